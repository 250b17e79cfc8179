#include "session/samples.h"

#include <filesystem>

#include "base/embedded.h"
#include "base/utf8.h"

namespace headlight {

namespace {

constexpr std::string_view kPrefix = "sample:";
constexpr const char* kScene = "sample:scene";
constexpr SamplePicture kSamples[] = {
    {"sample:ball", "A ball on grass"}, {"sample:shapes", "Pairs of shapes"}, {kScene, "A scene of shapes"}};

std::string_view sample_bytes(std::string_view path) {
    if (!path.starts_with(kPrefix)) return {};
    return embedded_file("assets/samples/" + std::string(path.substr(kPrefix.size())) + ".png");
}

}  // namespace

std::span<const SamplePicture> sample_pictures() { return kSamples; }

const char* first_picture(const Model& model) { return model.name == "scenes" ? kScene : ""; }

Result<RgbImage> open_picture(const std::string& path) {
    const std::string_view sample = sample_bytes(path);
    if (sample.empty()) return open_image(path);
    return decode_image(std::as_bytes(std::span(sample)), path);
}

bool names_picture(const std::string& text) {
    const std::string end = lower_case(std::filesystem::path(text).extension().string());
    return end == ".png" || end == ".jpg" || end == ".jpeg" || !sample_bytes(text).empty();
}

}  // namespace headlight
