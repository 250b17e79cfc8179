// Tests what is remembered, without a display.
#include "session/remembering.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "analysis/attention/head_stats.h"
#include "figure/style.h"
#include "helpers.h"
#include "io/output_file.h"
#include "parts/fold.h"
#include "session/end_signals.h"
#include "session/recovery.h"
#include "session/saver.h"
#include "session/workspace.h"
#include "trace/trace_file.h"
#include "views/views.h"

namespace headlight {

namespace {

Json fields_of(const Session& s) { return *settings_fields(s); }

Json json_at(const std::filesystem::path& path) { return Json::parse(read_bytes(path)); }

}  // namespace

TEST_CASE(
    "settings: saved and read back; what is out of range is clamped, what is broken set aside, never over "
    "another") {
    const TemporaryFolder folder;
    const auto path = folder.path / "deeper" / "settings.json";
    Session s;
    s.document.text = "naïve 😀";
    s.preferences.dark = false;
    s.selection.block = 3;
    s.preferences.recent_models = {"/a b/c"};
    REQUIRE(remember_settings(path, fields_of({}), fields_of(s), workspace_fields()));
    const Session back = load_settings(path);
    CHECK((back.document.text == s.document.text && !back.preferences.dark && back.selection.block == 3 &&
           !back.selection.choose_head && !back.selection.head_chosen &&
           back.preferences.recent_models == s.preferences.recent_models && back.notice.empty()));
    CHECK(json_at(path)["version"] == 1);
    write_bytes(
        path,
        R"({"width": -3, "text_size": 1e9, "layer": 123456789012, "dark": 5, "text": "kept", "scale": "big"})");
    const Session clamped = load_settings(path);
    CHECK((clamped.preferences.window_width == 0 && clamped.preferences.text_size == 2 &&
           clamped.selection.block == 100000 && clamped.preferences.dark && clamped.document.text == "kept" &&
           clamped.notice.empty()));
    CHECK(std::filesystem::exists(path));
    const char* const broken[] = {"", "{", "[]", "5"};
    for (const char* text : broken) {
        write_bytes(path, text);
        const Session fresh = load_settings(path);
        CHECK((fresh.preferences.dark && !fresh.notice.empty() && !std::filesystem::exists(path)));
    }
    CHECK((read_bytes(path.string() + ".broken").empty() && read_bytes(path.string() + ".broken-2") == "{" &&
           read_bytes(path.string() + ".broken-4") == "5"));
    write_bytes(path, "{");
    CHECK(!load_settings(path, false).notice.empty());
    CHECK_MESSAGE(read_bytes(path) == "{", "a file that the user named is never moved");
    REQUIRE(remember_settings(path, Json::object(), fields_of(s), workspace_fields()));
    CHECK_MESSAGE((load_settings(path).document.text == s.document.text &&
                   read_bytes(path.string() + ".broken-5") == "{"),
                  "one that breaks meanwhile is set aside too");
}

TEST_CASE("settings: a ranking is remembered by its key") {
    Session s;
    s.preferences.rank = static_cast<int>(find_statistic("self") - head_statistics().data());
    Json fields = fields_of(s);
    CHECK(fields["rank"] == "self");
    CHECK(read_settings(fields, "it").preferences.rank == s.preferences.rank);
    fields["rank"] = "moved";
    CHECK(read_settings(fields, "it").preferences.rank == kRankByMoved);
    fields["rank"] = "unknown";
    CHECK(read_settings(fields, "it").preferences.rank == kRankByCell);
}

TEST_CASE("settings: what is folded stays so") {
    Session s;
    s.visits = view_visits();
    s.of<TurnedFolds>().turned = {"Row", "result"};
    const auto fields = settings_fields(s);
    REQUIRE(fields);
    CHECK(read_settings(*fields, "it", view_visits()).of<TurnedFolds>().turned == s.of<TurnedFolds>().turned);
}

TEST_CASE("settings and labels of a newer version are neither read nor written over") {
    const TemporaryFolder folder;
    const auto path = folder.path / "settings.json";
    const std::string newer = R"({"version": 2, "text": "old", "labels": {}})";
    write_bytes(path, newer);
    write_bytes(labels_path(path), newer);
    const Session found = load_settings(path);
    CHECK((found.notice.find("newer version") != std::string::npos && found.document.text.empty()));
    CHECK_FALSE(remember_settings(path, Json::object(), fields_of(found), workspace_fields()));
    const LabelEdit edit{"stories", "1.2", "copies"};
    CHECK_FALSE(remember_labels(path, {&edit, 1}));
    CHECK((read_bytes(path) == newer && read_bytes(labels_path(path)) == newer));
}

TEST_CASE("settings: fields that are not known survive a load and a save") {
    const TemporaryFolder folder;
    const auto path = folder.path / "settings.json";
    write_bytes(path, R"({"future": {"deep": [1, 2]}, "dark": "automatic", "marks": [1], "text": "old"})");
    const Session before = load_settings(path);
    CHECK((before.notice.empty() && before.document.text == "old"));
    Session now = before;
    now.document.text = "new";
    REQUIRE(remember_settings(path, fields_of(before), fields_of(now), workspace_fields()));
    const Json kept = json_at(path);
    CHECK((kept["version"] == 1 && kept["future"]["deep"][1] == 2 && kept["dark"] == "automatic" &&
           kept["marks"] == Json::array({1}) && kept["text"] == "new"));
    now.preferences.dark = false;  // chosen here: then it is ours
    REQUIRE(remember_settings(path, fields_of(before), fields_of(now), workspace_fields()));
    CHECK(json_at(path)["dark"] == false);
}

TEST_CASE("settings: each of two windows writes its own changes; the view stays consistent") {
    const TemporaryFolder folder;
    const auto path = folder.path / "settings.json";
    Session first, second;
    first.document.text = "A";
    first.preferences.dark = false;
    REQUIRE(remember_settings(path, fields_of({}), fields_of(first), workspace_fields()));
    second.document.text = "B";
    second.document.changes().mask = "window:2";
    second.preferences.text_size = 1.5f;
    REQUIRE(remember_settings(path, fields_of({}), fields_of(second), workspace_fields()));
    Session both = load_settings(path);
    CHECK((!both.preferences.dark && both.preferences.text_size == 1.5f && both.document.text == "B" &&
           both.document.changes().mask == "window:2"));
    Session wider = first;
    wider.preferences.window_width = 900;
    REQUIRE(remember_settings(path, fields_of(first), fields_of(wider), workspace_fields()));
    CHECK_MESSAGE(
        (load_settings(path).document.text == "B" && load_settings(path).preferences.window_width == 900),
        "a preference alone leaves the other window's text");
    Session later = wider;
    later.selection.head = 2;
    REQUIRE(remember_settings(path, fields_of(wider), fields_of(later), workspace_fields()));
    CHECK((load_settings(path).document.text == "A" && load_settings(path).document.changes().mask == "own" &&
           load_settings(path).selection.head == 2));
}

TEST_CASE(
    "labels: two windows at once both keep theirs, a removed one stays removed, a newer file keeps "
    "its fields") {
    const TemporaryFolder folder;
    const auto settings = folder.path / "settings.json";
    const LabelEdit a{"stories", "1.2", "copies"}, b{"stories", "3.0", "sink"}, off{"stories", "1.2", ""};
    REQUIRE(remember_labels(settings, {&a, 1}));
    const auto both = remember_labels(settings, {&b, 1});
    REQUIRE(both);
    CHECK((both->at("stories").size() == 2 && both->at("stories").at("1.2") == "copies"));
    CHECK(remember_labels(settings, {&off, 1})->at("stories").count("1.2") == 0);
    CHECK(load_settings(settings).document.head_labels.at("stories").size() == 1);
    Json more = json_at(labels_path(settings));
    more["colors"] = {{"sink", "red"}};
    more["labels"]["gpt2"]["0.1"] = {{"text", "rich"}};
    write_bytes(labels_path(settings), more.dump());
    REQUIRE(remember_labels(settings, {&a, 1}));
    const Json kept = json_at(labels_path(settings));
    CHECK((kept["version"] == 1 && kept["colors"]["sink"] == "red" &&
           kept["labels"]["gpt2"]["0.1"]["text"] == "rich" && kept["labels"]["stories"]["1.2"] == "copies"));
    for (int process = 0; process < 4; ++process)
        if (fork() == 0) {
            for (int i = 0; i < 10; ++i) {
                const LabelEdit edit{"many", std::to_string(process) + "." + std::to_string(i), "x"};
                if (!remember_labels(settings, {&edit, 1})) _exit(1);
            }
            _exit(0);
        }
    for (int process = 0; process < 4; ++process) {
        int status = 1;
        wait(&status);
        CHECK(status == 0);
    }
    std::string notice;
    CHECK(find_labels(settings, notice).at("many").size() == 40);
}

}  // namespace headlight
