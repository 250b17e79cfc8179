#include "engine/remote_texts.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr const char* kEncoded = "The server's answer";
constexpr auto kTokenizing = std::chrono::seconds(30);  // servers tokenize while they compute
constexpr size_t kShown = 4;                            // images that a server keeps
constexpr int kMaxSide = 1024;                          // pixels of an image that is drawn

Result<std::vector<int>> read_numbers(const Json& answer, JsonKey key, int64_t most) {
    std::vector<int> out;
    TRY(const Json list, json_list(answer, key, kEncoded));
    for (const Json& number : list) {
        TRY(const int64_t value, whole_number(number, key.name, 0, most, kEncoded));
        out.push_back(narrow<int>(value));
    }
    return out;
}

Error misfit() { return Error{"The server's tokens do not fit each other; start it again."}; }

/// Reads where tokens begin and end; without that, a text is one span.
Result<std::vector<Span>> read_offsets(const Json& answer, size_t tokens) {
    std::vector<Span> out;
    TRY(const Json list, json_list(answer, or_null("offsets"), kEncoded));
    for (const Json& pair : list) {
        if (!pair.is_array() || pair.size() != 2) return misfit();
        TRY(const int64_t begin, whole_number(pair[0], "offsets", 0, 1 << 30, kEncoded));
        TRY(const int64_t end, whole_number(pair[1], "offsets", 0, 1 << 30, kEncoded));
        out.push_back({narrow<int>(begin), narrow<int>(end)});
    }
    out.resize(out.empty() ? tokens : out.size());
    return out.size() == tokens ? Result<std::vector<Span>>(std::move(out)) : misfit();
}

Result<Encoding> read_encoding(const Frame& answer) {
    Encoding out;
    TRY(out.ids, read_numbers(answer.header, "ids", 1 << 30));
    TRY(out.types, read_numbers(answer.header, or_null("types"), 1 << 10));
    TRY(const Json tokens, json_list(answer.header, "tokens", kEncoded));
    for (const Json& token : tokens) out.tokens.push_back(token.is_string() ? token.get<std::string>() : "?");
    TRY(out.offsets, read_offsets(answer.header, out.ids.size()));
    out.types.resize(out.ids.size());
    if (out.tokens.size() != out.ids.size()) return misfit();
    return out;
}

Result<PatchGrid> read_grid(const Json& told, size_t tokens) {
    PatchGrid out;
    const auto read = [&](const char* key, int& value) -> Status {
        TRY(const int64_t number, json_integer(told, or_null(key), 0, 0, narrow<int64_t>(tokens), kEncoded));
        value = narrow<int>(number);
        return success();
    };
    TRY_STATUS(read("first", out.first));
    TRY_STATUS(read("count", out.count));
    TRY_STATUS(read("rows", out.rows));
    TRY_STATUS(read("columns", out.columns));
    const int64_t patches = int64_t{out.rows} * out.columns;
    if (size_t(out.first) + size_t(out.count) > tokens || (patches != 0 && patches != out.count))
        return misfit();
    return out;
}

SentTensor pixels(const RgbImage& image) {
    return {"picture",
            "U8",
            {image.height, image.width, 3},
            {reinterpret_cast<const char*>(image.rgb.data()), image.rgb.size()}};
}

bool is_forgotten(const Frame& answer) { return answer.header.value("code", Json()) == "picture"; }

/// Cuts an image to the part that its patches cover: "seen", x, y, width and height in pixels.
RgbImage seen_part(const RgbImage& image, const Json& told) {
    const Json* seen = json_find(told, or_null("seen"));
    const auto is_number = [](const Json& side) { return side.is_number(); };
    if (!seen || !seen->is_array() || seen->size() != 4 ||
        !std::all_of(seen->begin(), seen->end(), is_number))
        return image;
    const auto pixel = [&](size_t i, int most) {
        return narrow<int>(std::lround(std::clamp((*seen)[i].get<double>(), 0.0, double(most))));
    };
    const int x = std::min(pixel(0, image.width), image.width - 1),
              y = std::min(pixel(1, image.height), image.height - 1);
    RgbImage out{std::max(1, std::min(pixel(2, image.width), image.width - x)),
                 std::max(1, std::min(pixel(3, image.height), image.height - y)),
                 {}};
    for (int row = y; row < y + out.height; ++row) {
        const auto begin = image.rgb.begin() + (int64_t{row} * image.width + x) * 3;
        out.rgb.insert(out.rgb.end(), begin, begin + int64_t{out.width} * 3);
    }
    return out;
}

/// Shrinks an image to what a screen shows of it.
RgbImage drawn(const RgbImage& image) {
    const int longest = std::max(image.width, image.height);
    if (longest <= kMaxSide) return image;
    const auto side = [&](int pixels) {
        return std::max(1, narrow<int>(int64_t{pixels} * kMaxSide / longest));
    };
    return resize(image, side(image.width), side(image.height), Resampling::bilinear);
}

}  // namespace

Result<Encoding> RemoteTexts::encode(Json asked) {
    TRY(const Frame answer, connection_->ask(std::move(asked), nullptr, {}, kTokenizing));
    return read_encoding(answer);
}

Result<PictureEncoding> RemoteTexts::encode_picture(const std::string& text,
                                                    const std::shared_ptr<const RgbImage>& image,
                                                    bool special) {
    Json asked{{"verb", "encode"}, {"text", text}, {"special", special}};
    Frame answer;
    if (const auto known = shown(image.get(), "").picture) {
        asked["picture"] = known->name;
        TRY(answer, connection_->answer_to(asked, nullptr, {}, kTokenizing));
        asked.erase("picture");
    }
    if (answer.header.is_null() || is_forgotten(answer)) {
        TRY(answer, ask_with_pixels(std::move(asked), *image));
    }
    TRY(answer, accepted(std::move(answer)));
    TRY(Encoding read, read_encoding(answer));
    TRY(const Json told, json_object(answer.header, "picture", kEncoded));
    TRY(const std::string name, json_string(told, "name", "", kEncoded));
    if (name.empty() || name.size() > 256) return misfit();
    TRY(const PatchGrid grid, read_grid(told, read.ids.size()));
    return PictureEncoding{std::move(read), note(image, told, grid)};
}

Result<Frame> RemoteTexts::ask_about(const Picture& picture, Json asked, const CancelFlag* cancel,
                                     const std::vector<SentTensor>& tensors) {
    asked["picture"] = picture.name;
    TRY(Frame answer, connection_->answer_to(asked, cancel, tensors));
    const auto image = is_forgotten(answer) ? shown(nullptr, picture.name).image : nullptr;
    if (!image) return accepted(std::move(answer));
    TRY(Frame again, ask_with_pixels({{"verb", "encode"}, {"text", ""}}, *image));
    TRY_STATUS(accepted(std::move(again)));
    return connection_->ask(std::move(asked), cancel, tensors);
}

Result<Frame> RemoteTexts::ask_with_pixels(Json asked, const RgbImage& image) {
    return connection_->answer_to(std::move(asked), nullptr, {pixels(image)}, kTokenizing);
}

RemoteTexts::Shown RemoteTexts::shown(const RgbImage* image, const std::string& name) {
    std::lock_guard lock(mutex_);
    for (const Shown& one : shown_)
        if (one.image.get() == image || one.picture->name == name) return one;
    return {};
}

std::shared_ptr<const Picture> RemoteTexts::note(const std::shared_ptr<const RgbImage>& image,
                                                 const Json& told, const PatchGrid& grid) {
    const std::string name = told["name"];
    std::lock_guard lock(mutex_);
    const auto held =
        std::find_if(shown_.begin(), shown_.end(), [&](const Shown& one) { return one.image == image; });
    Shown now{image, held == shown_.end() ? nullptr : held->picture};
    if (held != shown_.end()) shown_.erase(held);
    if (!now.picture || now.picture->name != name)
        now.picture =
            std::make_shared<const Picture>(Picture{drawn(seen_part(*image, told)), {}, grid, name});
    else if (now.picture->grid != grid)
        now.picture = std::make_shared<const Picture>(Picture{now.picture->image, {}, grid, name});
    shown_.insert(shown_.begin(), now);
    shown_.resize(std::min(shown_.size(), kShown));
    return now.picture;
}

}  // namespace headlight
