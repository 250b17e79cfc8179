// Tests workspaces: everything shown comes back, and old files open as before.
#include "session/workspace.h"

#include "helpers.h"
#include "learn/station.h"
#include "session/adopt.h"
#include "session/remembering.h"
#include "trace/trace_file.h"
#include "views/views.h"

namespace headlight {

TEST_CASE("workspace: everything shown comes back, and nothing else; foreign and broken files are refused") {
    const TemporaryFolder folder;
    const auto path = folder.path / "a b é.headlight.json";
    const auto model = reference_model("gpt2");
    Session s;
    s.document.wanted = s.document.open = {"some model", 0};
    s.document.text = "naïve 😀";
    s.document.comparison.text = "B";
    s.selection.view_name = "compare";
    s.selection.locked = std::pair{3, 1};
    s.document.comparison.what = Compared::sentences;
    s.document.comparison.alignment = {AlignBy::position, {{1, 2}, {3, -1}}};
    adopt(s, nullptr, Adopted::changes, model.get());
    s.document.intervention.mask = *Mask::parse("window:4");
    for (const char* text : {"mask:3-5>1-2@0.1", "temperature:0.5", "score:4>1@0.3=12.5",
                             "freeze:1.2=Another text", "ablate:1.0:keep", "skip-mlp:1"})
        s.document.intervention.changes.push_back(*parse_change(model->config, text));
    s.document.metric = {"p #17@3", {MetricKind::probability, 17, -1, 3}};
    REQUIRE(save_workspace(s, path));
    Session before;
    before.preferences.dark = false;
    before.preferences.recent_texts = {"mine"};
    before.document.changes().changes = {"mask:1>0"};
    auto back = open_workspace(path, before);
    REQUIRE(back);
    CHECK((back->document.text == s.document.text && back->document.comparison.text == "B" &&
           back->selection.view_name == "compare" && back->document.wanted.path == "some model"));
    CHECK((back->selection.locked == s.selection.locked &&
           back->document.comparison.alignment == s.document.comparison.alignment &&
           back->document.comparison.what == s.document.comparison.what));
    CHECK((!back->preferences.dark && back->preferences.recent_texts == before.preferences.recent_texts &&
           back->document.intervention == Intervention{}));
    back->document.open = back->document.wanted;
    adopt(*back, nullptr, Adopted::changes, model.get());
    CHECK(back->document.intervention == s.document.intervention);
    CHECK(back->document.metric.metric == s.document.metric.metric);
    CHECK(back->notice.empty());
    back->document.changes().changes = {"ablate:99.0"};
    adopt(*back, nullptr, Adopted::changes, model.get());
    CHECK((back->document.intervention.changes.empty() && !back->notice.empty()));
    for (const char* broken : {"", "{", "[]", "{}", "{\"format\": \"other\"}",
                               "{\"format\": \"headlight-workspace\", \"version\": 99}",
                               "{\"format\": \"headlight-workspace\", \"version\": 1, \"text\": 5}"}) {
        write_bytes(path, broken);
        const auto refused = open_workspace(path, {});
        CHECK_MESSAGE(!refused, broken);
        if (!refused) CHECK(refused.error().message.find("headlight.json") != std::string::npos);
    }
    write_bytes(path,
                "{\"format\": \"headlight-workspace\", \"version\": 1, \"layer\": -3, \"temperature\": 70}");
    CHECK((open_workspace(path, {})->selection.block == 0 &&
           open_workspace(path, {})->document.generation.decoding.temperature == 10));
    CHECK((is_workspace(path) && !is_workspace("model.json") && !is_workspace(".headlight.json")));
    std::filesystem::create_directory(folder.path / "model");
    s.document.wanted = {"model", 0};  // beside the file, wherever that moves
    REQUIRE(save_workspace(s, path));
    CHECK(open_workspace(path, {})->document.wanted.path ==
          std::filesystem::weakly_canonical(folder.path / "model").string());
}

TEST_CASE("every field of a workspace is read, and written as it was") {
    const TemporaryFolder folder;
    const auto path = folder.path / "all.headlight.json";
    const Json old = Json::parse(R"({"format": "headlight-workspace", "version": 1,
        "model": "stories", "text": "a", "second": "b", "mask": "window:4", "changes": ["mask:2>1"],
        "colormap": "viridis", "contrast": 6, "queries": 1, "marks": 1, "rank": "moved", "layer": 3, "head": 2,
        "view": "delta", "locked": [[3, 1]], "drop_sink": true, "link_share": 0.5, "delta_show": 2,
        "delta_per_layer": false, "delta_split": 1, "delta_paths": true, "graph_share": 0.25,
        "graph_by": 2, "heads_layout": 4, "heads_sort": 7, "heads_scale": 2, "heads_kept": 0.5,
        "heads_zoom": 2.0, "compare": 3, "compare_show": 2, "layer_b": 1, "head_b": 4, "text_b": "c",
        "model_b": "translator", "temperature": 0.5, "top_k": 40, "top_p": 0.75, "seed": 11, "beams": 4,
        "length_penalty": 2.0, "written_length": 12, "writing_bar": true, "align_of": 2, "align_marks": 1,
        "align_words": true, "align_read": true, "align_lines": true, "model_maps": false,
        "model_mean": true, "position_stack": 1, "position_count": 32, "align": 1,
        "tied": [[1, 2], [3, -1]]})");
    write_bytes(path, old.dump());
    Session session;
    session.visits = view_visits();
    const auto opened = open_workspace(path, session);
    REQUIRE(opened);
    CHECK(opened->document.unknown_fields.empty());
    Session named = *opened;  // a name of a model that is no folder stays
    Json written = old;
    written["learn_station"] = learn::stations().front().key;  // what it does not say is written as it stands
    written["learn_set"] = Json::array();
    written["heads_color"] = 0;
    written["heads_tag"] = "";
    written["folds"] = Json::array();
    written["prompts_text"] = written["prompts_corrupted"] = "";
    written["prompts_answer"] = written["prompts_wrong"] = "";
    written["prompts_lists"] = Json::array();
    written["prompts_of"] = 0;
    written["prompts_at_most"] = 20;
    written["steps_order"] = 0;
    written["steps_show"] = 0;
    written["model_block"] = 3;
    written["patch_part"] = 0;
    written["patch_estimates"] = false;
    written["origins_count"] = 16;
    written["circuits_kind"] = 1;
    written["circuits_tokens"] = 8192;
    written["circuits_graph"] = false;
    written["corpus"] = "";
    written["corpus_show"] = 0;
    written["chat"] = false;
    written["conversation"] = "";
    written["chat_template"] = written["chat_thinking"] = written["chat_measure"] = 0;
    written["chat_heads"] = false;
    written["chat_asked"] = written["chat_attended"] = -1;
    written["contacts_apart"] = 6;
    written["compare_rank"] = 0;
    written["compare_curve"] = 0;
    written["circuits_strongest"] = 60;
    written["circuits_q"] = written["circuits_k"] = written["circuits_v"] = true;
    written["graph_sink_apart"] = written["influence_written"] = false;
    written["influence_layer"] = -1;
    written["influence_points"] = 0;
    written["influence_second"] = 3;
    written["explain_from"] = 0;
    written["explain_step"] = -1;
    written["doors"] = Json::array();
    for (const char* first : {"maps", "probes", "beside", "baseline", "part"})
        written[std::string("influence_") + first] = 0;
    written["picture"] = "";
    written["heads_kind"] = 0;
    written["map_of"] = written["map_from"] = 0;
    written["map_heads"] = written["slides"] = Json::array();
    written["metric"] = "";
    written["other_models"] = written["written_forced"] = Json::array();
    written["written_step"] = -1;
    written["head_chosen"] = false;
    CHECK(*workspace_document(named) == written);
    CHECK(*workspace_document(session) != old);
}

TEST_CASE("workspace: interventions on other models and forced tokens are restored") {
    Session s;
    Document& d = s.document;
    d.text = d.changes().forced_for = d.generation.forced_for = "one";
    d.changes().forced = {7, 300};
    d.changes().metric = "";
    d.changes_of["/models/other"].mask = "window:3";
    d.changes_of["/models/other"].changes = {"ablate:0.1:zero"};
    d.changes_of["/models/other"].metric = "";
    d.changes_of["/models/third"].metric = "p #17";
    d.changes_of["/models/untouched"];
    d.generation.step = 3;
    const Json kept = *workspace_document(s);
    CHECK(kept["other_models"].size() == 2);
    auto back = parse_workspace(json_text(kept), "it", {});
    REQUIRE(back);
    CHECK((back->document.changes() == d.changes() && back->document.generation.step == 3));
    CHECK((back->document.changes_of.at("/models/other") == d.changes_of.at("/models/other") &&
           back->document.changes_of.at("/models/third").metric == "p #17"));
    CHECK(*workspace_document(*back) == kept);
    const auto wrong = parse_workspace(
        R"({"format": "headlight-workspace", "version": 1, "other_models": ["{", "[]", "{\"mask\": \"none\"}"]})",
        "it", {});
    CHECK((wrong && wrong->document.changes_of.size() == 1));
}

TEST_CASE("a long text is saved whole, or rejected if it could not be read back") {
    const TemporaryFolder folder;
    const auto path = folder.path / "long.headlight.json";
    Session s;
    for (int i = 0; i < 40'000; ++i) s.document.text += "naïve 😀 ";
    s.document.changes().changes = {"freeze:1.2=" + s.document.text};
    REQUIRE(save_workspace(s, path));
    auto back = open_workspace(path, {});
    REQUIRE(back);
    CHECK((back->document.text == s.document.text &&
           back->document.changes().changes == s.document.changes().changes));
    const std::string before = read_bytes(path);
    s.document.text = std::string(5 << 20, 'x');
    const Status refused = save_workspace(s, path);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("4 MB") != std::string::npos);
    CHECK(read_bytes(path) == before);
}

TEST_CASE("workspace: of two spellings of a model the one in use keeps its interventions") {
    const TemporaryFolder folder;
    const std::filesystem::path model = folder.path / "m", file = folder.path / "a.headlight.json";
    std::filesystem::create_directory(model);
    Session session;
    session.document.changes_of[model.string()].mask = "causal";
    session.document.wanted.path = std::filesystem::relative(model).string();
    session.document.changes().mask = "window:4";
    REQUIRE(save_workspace(session, file));
    auto opened = open_workspace(file, Session());
    REQUIRE(opened);
    CHECK(opened->document.wanted.path == model.string());
    CHECK(opened->document.changes().mask == "window:4");
}

}  // namespace headlight
