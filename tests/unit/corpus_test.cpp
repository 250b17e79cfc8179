// Tests heads over many texts: kinds of tokens, spreads, and which pairs are kept.
#include <algorithm>
#include <cmath>

#include "analysis/circuits/composition.h"
#include "analysis/corpus/corpus_file.h"
#include "helpers.h"
#include "io/json.h"
#include "session/work/jobs.h"

using namespace headlight;

TEST_CASE("a spread is a sample's mean and deviation; undefined values do not count") {
    SpreadOverTexts s;
    CHECK(std::isnan(s.mean()));
    for (const float x : {2.0f, 4.0f, NAN, 9.0f}) s.add(x);
    CHECK(s.count == 3);
    CHECK(s.mean() == doctest::Approx(5));
    CHECK(s.deviation() == doctest::Approx(std::sqrt(13.0)));  // (9 + 1 + 16) / 2
}

TEST_CASE("an exact sum is rounded once, in any order, and partial sums add up to the same") {
    ExactSum none, rounded, tie, other;
    CHECK((none.value() == 0 && none.parts().empty()));
    const std::vector<double> numbers{1e100, 0.1, 3, -1e100, 0.2, 1e-30, -7, 0.3, 4};
    for (const double x : numbers) rounded.add(x);
    CHECK(rounded.value() ==
          0.6);  // of 0.1, 0.2 and 0.3 as doubles; summed in order they give 0.6000000000000001
    std::vector<double> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    for (const double x : sorted) other.add(x);
    CHECK(other.value() == rounded.value());
    ExactSum parts;
    for (const double x : rounded.parts()) parts.add(x);
    parts.add(-other.value());
    CHECK(std::abs(parts.value()) < 1e-16);
    for (const double x : {1.0, std::ldexp(1.0, -53)}) tie.add(x);
    CHECK(tie.value() == 1);  // the even neighbor
    tie.add(std::ldexp(1.0, -200));
    CHECK(tie.value() == 1 + std::ldexp(1.0, -52));  // it is above the tie
    tie.add(-std::ldexp(1.0, -199));
    CHECK(tie.value() == 1);
}

TEST_CASE("a corpus: rows of links sum to 1, a repeated text changes no mean and adds no pair") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto trace = *run_trace(model, request_of({5, 9, 200, 31, 5, 9, 77}), pool);
    const auto text = std::make_shared<const CorpusText>(CorpusText{1, "once"});
    Corpus once(model->config, 5), twice(model->config, 5);
    once.add(*trace, text, pool);
    for (const int line : {1, 2})
        twice.add(*trace, std::make_shared<const CorpusText>(CorpusText{line, "twice"}), pool);
    CHECK((twice.texts() == 2 && twice.tokens() == 14));
    for (int i = 0; i < isize(once.heads()); ++i) {
        const HeadOverTexts &a = once.heads()[i], &b = twice.heads()[i];
        for (int s = 0; s < kStatistics; ++s)
            if (a.statistics[s].count)
                CHECK(b.statistics[s].mean() == doctest::Approx(a.statistics[s].mean()));
        REQUIRE((a.strongest.size() == 5 && b.strongest.size() == 5));
        for (int k = 0; k < 5; ++k) {
            CHECK(a.strongest[k].weight == b.strongest[k].weight);
            CHECK(b.strongest[k].text->line == 1);
            CHECK(a.strongest[k].key > 0);
            const Matrix pattern =
                trace->pattern(model->config.head_at(i).block, model->config.head_at(i).head);
            CHECK(a.strongest[k].weight == pattern(a.strongest[k].query, a.strongest[k].key));
        }
        const Matrix links = a.links();
        for (int kind = 0; kind < kTokenKinds; ++kind)
            if (a.queries[kind]) CHECK(links.row(kind).sum() == doctest::Approx(1).epsilon(1e-5));
    }
}

namespace {

const std::shared_ptr<const Model>& stories_model() {
    static const auto model = *Model::open(kTests.parent_path() / "models/stories");
    return model;
}

const char* const kCorpusTexts =
    "Lily had a red ball. Tom had a blue ball.\r\n\n   \nOnce upon a time there were 3 dogs.\nThe cat sat on "
    "the "
    "mat. The cat";

/// Reads these texts at once.
Dossier whole_dossier(const std::string& file) {
    ThreadPool pool(2);
    const auto trace = trace_of(stories_model(), {5, 6}, pool);
    return **answer_dossier(*trace, DossierRequest{file}, pool);
}

/// Writes a file of texts, and removes it at the end.
struct CorpusFile {
    TemporaryFolder folder;
    std::string file(const std::string& text) const {
        const std::string path = (folder.path / "texts.txt").string();
        write_bytes(path, text);
        return path;
    }
};

}  // namespace

TEST_CASE(
    "lines of a corpus: empty ones are skipped, numbers are the file's, and line() is stable until "
    "advance()") {
    const CorpusFile of;
    auto lines = *CorpusLines::open(of.file(kCorpusTexts));
    REQUIRE(lines.count() == 3);
    REQUIRE(lines.line());
    CHECK((lines.line()->number == 1 && lines.line()->text.ends_with("blue ball.")));
    CHECK(lines.line()->number == 1);
    REQUIRE(lines.advance());
    CHECK((lines.line()->number == 4 && lines.line()->text.starts_with("Once")));
    REQUIRE(lines.advance());
    CHECK(lines.line()->number == 5);
    REQUIRE(lines.advance());
    CHECK(!lines.line());
    CHECK((!CorpusLines::open(of.file("\n \r\n")) && !CorpusLines::open(of.file(""))));
    CHECK(CorpusLines::open(of.file("\n\na"), 7)->line()->number == 9);
}

TEST_CASE("a dossier: pairs know their tokens' positions, and JSON round-trips") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "texts.txt").string(),
                      saved = (folder.path / "sheet.json").string();
    write_bytes(file, kCorpusTexts);
    const ModelConfig& c = stories_model()->config;
    const Dossier dossier = whole_dossier(file);
    CHECK((dossier.texts == 3 && isize(dossier.heads) == c.head_count()));
    for (const CorpusLink& l : dossier.heads[AttentionHead{1, 2}].strongest) {
        const std::string& text = l.text->text;  // of ASCII alone
        REQUIRE((l.text->whole && l.query_place.end <= isize(text)));
        const std::string token = text.substr(l.query_place.begin, l.query_place.end - l.query_place.begin);
        CHECK(l.query_token.find(token.substr(token.find_first_not_of(' '))) != std::string::npos);
    }
    write_bytes(saved, dossier_json(c, dossier));
    CHECK((is_dossier(saved) && !is_dossier(file) && !is_dossier(folder.path / "missing.json")));
    const auto back = open_dossier(saved, c);
    REQUIRE(back);
    CHECK(dossier_json(c, *back) == dossier_json(c, dossier));
    CHECK(dossier_csv(c, *back) == dossier_csv(c, dossier));
    CHECK(dossier_json(c, whole_dossier(saved)) == dossier_json(c, dossier));
}

TEST_CASE("a dossier of other heads, or another file, is refused with a sentence") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "texts.txt").string();
    write_bytes(file, "Tom had a ball.");
    const ModelConfig& c = stories_model()->config;
    const std::string text = dossier_json(c, whole_dossier(file));
    const auto why = [&](const std::string& of, const ModelConfig& config) {
        const auto read = parse_dossier(of, "sheet.json", config);
        return read ? std::string() : read.error().message;
    };
    CHECK(why(text, reference_model("gpt2")->config).find("open that model first") != std::string::npos);
    CHECK(why("{}", c).find("no dossier") != std::string::npos);
    CHECK(why("[1", c).find("sheet.json") != std::string::npos);
    Json newer = Json::parse(text);
    newer["version"] = 2;
    CHECK(why(newer.dump(), c).find("newer version") != std::string::npos);
    for (const auto& change : {std::pair{"/heads/0/head", Json("9.9")},
                               {"/heads/0/strongest/0/weight", Json("x")},
                               {"/heads/0/strongest/0/query_place", Json{5, 2}},
                               {"/heads/3/links/word", Json(3)},
                               {"/heads/0/strongest/0/weight", Json(1e300)},
                               {"/heads/0/strongest/0/text", Json(std::string(20000, 'x'))},
                               {"/heads/3/links/word/word", Json(-7)},
                               {"/heads/1/statistics/entropy/mean", Json("x")},
                               {"/heads/1/statistics/entropy/deviation", Json(1e30)},
                               {"/texts", Json(-1)}}) {
        Json changed = Json::parse(text);
        changed[Json::json_pointer(change.first)] = change.second;
        CHECK_MESSAGE(!why(changed.dump(), c).empty(), change.first);
    }
}

TEST_CASE("a corpus that is cancelled and resumed equals one read at once") {
    const TemporaryFolder folder;
    const std::string file = (folder.path / "texts.txt").string();
    std::string texts;
    for (int i = 0; i < 40; ++i)
        texts += "Lily had " + std::to_string(i) + " red balls. Tom had a blue ball.\n";
    write_bytes(file, texts);
    const ModelConfig& c = stories_model()->config;
    std::atomic<Job<CorpusSweep>*> held{nullptr};
    std::atomic<bool> begun{false}, done{false};
    const auto until_stopped = [&](bool) {
        while (!held) std::this_thread::yield();
        if (held.load()->found().done == 0) return;
        begun = true;
        while (!held.load()->stopped()) std::this_thread::yield();
    };
    const auto work_of = [](CorpusSweep::Request request) {
        return *CorpusSweep::of(&request, {stories_model(), {}, {}});
    };
    Job<CorpusSweep> first(work_of({file}), {}, until_stopped);
    held = &first;
    while (!begun) std::this_thread::yield();
    first.stop();
    CHECK(first.is_of(work_of({file, 0, false, true})));
    CHECK(!first.is_of(work_of({file, 1})));
    const CorpusSweep::Found kept = first.found();
    REQUIRE(kept.dossier);
    CHECK((kept.done == 1 && kept.dossier->texts == 1 && kept.texts == 40));
    const Job<CorpusSweep> second(first.work(), first.found(), [&](bool ended) { done = ended; });
    while (!done) std::this_thread::yield();
    const CorpusSweep::Found found = second.found();
    CHECK((second.ended() && found.refusal.empty() && found.done == 40 && found.texts == 40));
    CHECK(dossier_json(c, *found.dossier) == dossier_json(c, whole_dossier(file)));
}

TEST_CASE("a corpus that cannot be read says why") {
    const TemporaryFolder folder;
    const auto written = [&](const char* name, const std::string& text) {
        write_bytes(folder.path / name, text);
        return (folder.path / name).string();
    };
    const std::string long_line = written("long.txt", "Tom had a ball.\n" + std::string((1 << 20) + 1, 'x'));
    for (const auto& [path, words] :
         {std::pair{long_line, "Line 2"},
          {written("cut.jsonl", "\"Tom\"\n\"cut"), "Line 2"},
          {written("sheet.json", R"({"format": "headlight-dossier"})"), "0 heads"},
          {written("other.json", "[1]"), "other.json"},
          {written("sorted.JSON", "{}"), "no dossier"},
          {written("loud.JSONL", "{\"text\": 1}"), "Line 1"},
          {(folder.path / "none.txt").string(), "none.txt"}}) {
        std::atomic<bool> done{false};
        const CorpusSweep::Request request{path};
        const Job<CorpusSweep> sweep(*CorpusSweep::of(&request, {stories_model(), {}, {}}), {},
                                     [&](bool ended) { done = ended; });
        while (!done) std::this_thread::yield();
        CHECK(sweep.found().refusal.find(words) != std::string::npos);
        CHECK(!sweep.found().dossier);
    }
}

TEST_CASE("a corpus cancelled within a text keeps only whole texts, and resumes with that text") {
    constexpr const char* kTexts = "\xEF\xBB\xBFLily had a red ball.\nTom had a blue ball.\nThe end.";
    ThreadPool pool(1);
    const ModelConfig& c = stories_model()->config;
    const auto sheet = [&](const Corpus& corpus) {
        return dossier_json(c, dossier_of(*stories_model(), corpus, ""));
    };
    CancelFlag cancel{false};
    const auto plainly = read_plainly(*stories_model());
    const CorpusReader reader{stories_model(), [&](const std::string& text) {
                                  cancel = cancel || text.starts_with("Tom");
                                  return plainly(text);
                              }};
    const CorpusFile of;
    const std::string file = of.file(kTexts);
    auto lines = CorpusLines::open(file), again = CorpusLines::open(file);
    REQUIRE((lines && again && lines->count() == 3 && lines->line()->text == "Lily had a red ball."));
    Corpus corpus(c, kStrongestLinks), whole(c, kStrongestLinks);
    const Status stopped = read_corpus(reader, *lines, corpus, pool, &cancel);
    REQUIRE(!stopped);
    CHECK((stopped.error().cancelled && corpus.texts() == 1 && lines->line()->number == 2));
    cancel = true;
    const auto counted =
        CorpusLines::open(std::string(HEADLIGHT_TESTS_DIR) + "/golden/corpus.txt", 1, &cancel);
    CHECK((!counted && counted.error().cancelled));
    REQUIRE(read_corpus({stories_model(), plainly}, *lines, corpus, pool));
    REQUIRE(read_corpus({stories_model(), plainly}, *again, whole, pool));
    CHECK((corpus.texts() == 3 && sheet(corpus) == sheet(whole)));
}

TEST_CASE("compositions by the worker equal those of a question") {
    std::atomic<bool> done{false};
    std::atomic<int> seen{0};
    const Job<CompositionSweep> sweep({stories_model()}, {}, [&](bool ended) { ++seen, done = ended; });
    while (!done) std::this_thread::yield();
    const CompositionSweep::Found found = sweep.found();
    REQUIRE(found.composition);
    CHECK((found.done == found.steps && seen == found.steps + 2 && found.composition->refusal.empty()));
    ThreadPool pool(1);
    const auto asked = model_composition(*stories_model(), pool, nullptr);
    REQUIRE(asked);
    for (const CompositionKind kind : {CompositionKind::q, CompositionKind::k, CompositionKind::v})
        CHECK(((*found.composition)[kind].array() == (*asked)[kind].array() || (*asked)[kind].array().isNaN())
                  .all());
}

TEST_CASE("compositions are ranked by kind, and of several kinds the strongest come first") {
    ThreadPool pool(2);
    const auto found = model_composition(*stories_model(), pool, nullptr);
    REQUIRE(found);
    const auto all = strongest_compositions(*found, 50);
    const auto ranked = strongest_ranked(*found, 50, {true, true, true});
    REQUIRE((ranked.size() == 50 && all.size() == 50));
    for (int i = 0; i < 50; ++i)
        CHECK((ranked[i].kind == all[i].kind && ranked[i].reader == all[i].reader &&
               ranked[i].writer == all[i].writer && ranked[i].value == all[i].value));
    for (const ComposedPair& pair : strongest_ranked(*found, 30, {false, true, false}))
        CHECK(pair.kind == CompositionKind::k);
    CHECK(strongest_ranked(*found, 30, {false, false, false}).empty());
}
