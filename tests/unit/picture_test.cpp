// Tests pictures as cameras and printers make them: rotated, in CMYK.
#include "helpers.h"
#include "io/orientation.h"

using namespace headlight;
namespace fs = std::filesystem;

TEST_CASE("pictures are rotated and CMYK converted as in Pillow") {
    const fs::path folder = kTests / "reference/pictures";
    for (const char* name :
         {"exif.jpg", "xmp.jpg", "exif.png", "xmp.png", "raw_profile.png", "cmyk.jpg", "ycck.jpg"}) {
        CAPTURE(name);
        std::string expected = "upright_" + std::string(name) + ".png";
        expected[expected.find('.')] = '_';
        const auto is = open_image(folder / name), should = open_image(folder / expected);
        REQUIRE_MESSAGE(is, (is ? "" : is.error().message));
        REQUIRE(should);
        CHECK((is->width == should->width && is->height == should->height));
        int most = 0;
        for (size_t i = 0; i < std::min(is->rgb.size(), should->rgb.size()); ++i)
            most = std::max(most, std::abs(int{is->rgb[i]} - int{should->rgb[i]}));
        CHECK(most <= 2);
    }
}

TEST_CASE("each of EXIF's eight orientations puts the corners in place") {
    // Corners: red, green above, blue, yellow below; letters by the orientation in which they are read.
    const char* turned[] = {"RGBY", "GRYB", "YBGR", "BYRG", "RBGY", "BRYG", "YGBR", "GYRB"};
    const std::string bytes = read_bytes(kTests / "reference/pictures/exif.jpg");
    const size_t tag = bytes.find(std::string("\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06", 10));  // big-endian
    REQUIRE(tag != std::string::npos);
    for (int o = 0; o <= 9; ++o) {
        CAPTURE(o);
        std::string file = bytes;
        file[tag + 9] = static_cast<char>(o);
        const auto image = decode_image(std::as_bytes(std::span(file)), "x");
        REQUIRE(image);
        CHECK(image->width == (o >= 5 && o <= 8 ? 16 : 24));
        std::string corners;
        for (const auto& [x, y] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}}) {
            const size_t at = size_t(y * (image->height - 1) * image->width + x * (image->width - 1)) * 3;
            const bool red = image->rgb[at] > 128, green = image->rgb[at + 1] > 128;
            corners += red && green ? 'Y' : red ? 'R' : green ? 'G' : 'B';
        }
        CHECK(corners == turned[o >= 1 && o <= 8 ? o - 1 : 0]);
    }
}

TEST_CASE("Truncated or invalid EXIF leaves a picture unchanged") {
    const std::string bytes = read_bytes(kTests / "reference/pictures/exif.jpg");
    const std::string exif = bytes.substr(bytes.find("Exif"), 40);
    CHECK(exif_orientation(exif) == 6);
    for (size_t size = 0; size < exif.find("\x01\x12\x00\x03") + 12; ++size)
        CHECK(!exif_orientation(exif.substr(0, size)));
    CHECK(!exif_orientation("MM\x00\x2A\xFF\xFF\xFF\xFF"));
    CHECK(xmp_orientation("<tiff:Orientation>3</tiff:Orientation>") == 3);
    CHECK(!xmp_orientation("tiff:Orientation=\"x\""));
    CHECK(bytes_of_raw_profile("\nexif\n   2\n49\n49") == "II");
    CHECK(bytes_of_raw_profile("x").empty());
}
