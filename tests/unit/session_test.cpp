// Tests the session without a window: keys of a layout, paths, texts on the screen.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "base/lru_cache.h"
#include "base/serial.h"
#include "figure/text_pieces.h"
#include "paint/input.h"
#include "paint/text.h"
#include "session/commands/keys.h"
#include "session/file_dialog.h"
#include "session/save_path.h"

using namespace headlight;

TEST_CASE("keys mean the letters of the layout") {
    const std::string us = "qwertyuiopasdfghjklzxcvbnm1234567890-=[];'\\,./`",
                      fr = "azertyuiopqsdfghjklmwxcvbn&\"'(-_)=^$*,;:!<";
    CHECK(meant_key('Q', "q", us) == 'Q');
    CHECK(meant_key('Q', "a", fr) == 'A');
    CHECK(meant_key('M', ",", fr) == -1);  // M is elsewhere
    CHECK(meant_key(';', "m", fr) == 'M');
    CHECK(meant_key('1', "&", fr) == '1');  // no key writes 1 without Shift: its position counts
    CHECK(meant_key('2', "é", fr) == '2');
    CHECK(meant_key('6', "-", fr) == '6');    // French
    CHECK(meant_key('1', "+", "+-") == '1');  // Czech
    CHECK(meant_key('Y', "z", "qwertzuiopasdfghjklyxcvbnm1234567890") == 'Z');
    CHECK(meant_key('Q', "'", "',.pyfgcrlaoeuidhtns;qjkxbmwvz1234567890") == -1);   // Dvorak
    CHECK(meant_key('C', "с", "1234567890") == 'C');                                // Cyrillic
    CHECK((meant_key('=', "=", "-=") == '=' && meant_key(']', "+", "-+") == '='));  // US, German
    CHECK((meant_key('/', "-", "-+") == '-' && meant_key('-', "ß", "-+") == -1));
    CHECK(meant_key(256, "", us) == 256);
    CHECK(meant_key(-1, "", us) == -1);
}

TEST_CASE("a key that ran a command types nothing") {
    Input input;
    input.keys.push_back({'3'});
    input.add_text("3", 0);
    input.keys.push_back({259});  // Backspace
    input.add_text("你", 0);      // from an input method, not Backspace
    input.keys.push_back({'C', true});
    input.add_text("c", 0);  // nor from a shortcut
    CHECK(input.keys.size() == 5);
    CHECK((input.take('3') && input.take(259) && input.take('C', true)));
    REQUIRE(input.keys.size() == 2);
    CHECK((input.keys[0].text == "你" && input.keys[1].text == "c"));
}

TEST_CASE("the least recently used is dropped first, and only between two frames") {
    LruCache<int> cache;
    for (int i = 0; i < 5000; ++i) cache.add(std::to_string(i), i, 10);
    int* kept = cache.find("0");
    REQUIRE(kept);
    CHECK((*kept == 0 && cache.size() == 5000));  // nothing is dropped while it is used
    cache.trim(30);
    CHECK((cache.size() == 3 && cache.cost() == 30));
    CHECK(cache.find("0") == kept);
    CHECK((cache.find("4999") && cache.find("4998") && !cache.find("4997")));
    cache.find("0");
    cache.trim(10);
    CHECK((cache.find("0") && cache.size() == 1));
    cache.clear();
    CHECK((cache.size() == 0 && cache.cost() == 0 && !cache.find("0")));
}

TEST_CASE("no two objects share a serial number, even at one address") {
    Serial a, b(a);
    const uint64_t before = a.value();
    CHECK((before != 0 && before != b.value()));
    a = b;
    CHECK((a.value() != before && a.value() != b.value()));
}

TEST_CASE("a line is measured by one layout, piece by piece") {
    for (const std::string text :
         {"Lily had a red ball.", "猫坐在垫子上", "नमस्ते", "👩‍👩‍👧 a", "مرحبا abc"}) {
        CAPTURE(text);
        const auto pieces = text_pieces(text, 15, Face::sans);
        REQUIRE(!pieces.empty());
        double width = 0;
        for (size_t i = 0; i < pieces.size(); ++i) {
            CHECK(pieces[i].begin == (i ? pieces[i - 1].end : 0));
            CHECK(pieces[i].begin < pieces[i].end);
            width += pieces[i].width;
        }
        CHECK(pieces.back().end == text.size());
        CHECK(width == doctest::Approx(text_width(text, 15, Face::sans)).epsilon(0.01));
    }
    CHECK(text_pieces("", 15, Face::sans).empty());
}

TEST_CASE("a long Chinese text is truncated without drawing its prefixes") {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += i % 2 ? "猫" : "狗";
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t* cairo = cairo_create(surface);
    const Canvas canvas(cairo);
    TextPainter painter;
    painter.set_page(&canvas);
    const auto begin = std::chrono::steady_clock::now();
    const std::string cut = painter.fitted({Face::sans, 15}, text, 300);
    CHECK(std::chrono::steady_clock::now() - begin <
          std::chrono::seconds(10));  // by prefixes it takes minutes
    CHECK(painter.width({Face::sans, 15}, cut) <= 300);
    CHECK(painter.width({Face::sans, 15}, cut) > 260);
    CHECK(cut.substr(cut.size() - 3) == "…");
    CHECK(text.rfind(cut.substr(0, cut.size() - 3), 0) == 0);
    CHECK(painter.fitted({Face::sans, 15}, "猫", 300) == "猫");
    CHECK(painter.fitted({Face::sans, 15}, "猫", 14) == "…");
    CHECK(painter.fitted({Face::sans, 15}, "猫", 1) == "");
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
}

TEST_CASE("lines break at spaces, and within a word that is too wide") {
    const auto lines = [](const std::string& text, double wrap) {
        std::vector<TextPiece> pieces;
        for (size_t i = 0; i < text.size(); ++i) pieces.push_back({i, i + 1, 1.0});
        return broken_lines(text, pieces, wrap);
    };
    using Lines = std::vector<std::string>;
    CHECK(lines("", 5).empty());
    CHECK(lines("a bc def", 20) == Lines{"a bc def"});
    CHECK(lines("a bc def", 4) == Lines{"a bc", "def"});
    CHECK(lines("abcdefg hi", 3) == Lines{"abc", "def", "g", "hi"});
    CHECK(lines("abc", 0.5) == Lines{"a", "b", "c"});  // never none
}

TEST_CASE("a file is saved where the window says, without replacing others") {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("headlight-save-" + std::to_string(std::random_device()()));
    fs::create_directories(folder);
    const auto touch = [&](const char* name) { std::ofstream(folder / name) << "x"; };
    CHECK(next_free(folder / "a.png") == folder / "a.png");
    for (const char* name : {"a.png", "a-2.png", "b.headlight.json", "c", ".d"}) touch(name);
    CHECK(next_free(folder / "a.png") == folder / "a-3.png");
    CHECK(next_free(folder / "b.headlight.json") == folder / "b-2.headlight.json");
    CHECK(next_free(folder / "c") == folder / "c-2");
    CHECK(next_free(folder / ".d") == folder / ".d-2");
    fs::remove_all(folder);
    CHECK(full_path("a.png", "/x/y") == "/x/y/a.png");
    CHECK(full_path("../a.png", "/x/y") == "/x/a.png");
    CHECK(full_path("/z/a.png", "/x/y") == "/z/a.png");
    CHECK(full_path("", "/x/y").empty());
    const char* home = std::getenv("HOME");
    if (home && *home) CHECK(full_path("~/a.png", "/x") == (fs::path(home) / "a.png").lexically_normal());
    const std::string dirs =
        "# a comment\nXDG_DESKTOP_DIR=\"$HOME/Desk\"\nXDG_PICTURES_DIR=\"$HOME/Bilder\"\n"
        "XDG_DOCUMENTS_DIR=\"/data/doc s\"\nXDG_MUSIC_DIR=\"relative\"\nXDG_VIDEOS_DIR=\"\n";
    CHECK(named_folder(dirs, "PICTURES", "/home/p") == "/home/p/Bilder");
    CHECK(named_folder(dirs, "DOCUMENTS", "/home/p") == "/data/doc s");
    for (const char* none : {"MUSIC", "VIDEOS", "PUBLICSHARE"})
        CHECK(named_folder(dirs, none, "/home/p").empty());
}

TEST_CASE("the dialog gets its arguments one by one, never through a shell") {
    CHECK(dialog_arguments("kdialog", "Save", "/a b/$(x).png") ==
          std::vector<std::string>{"kdialog", "--title", "Save", "--getsavefilename", "/a b/$(x).png"});
    const auto zenity = dialog_arguments("zenity", "Save", "/a b/$(x).png");
    CHECK(zenity.front() == "zenity");
    CHECK(zenity.back() == "--filename=/a b/$(x).png");
}
