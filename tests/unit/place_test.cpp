// Tests places of changes, their names, refused values; rectangles and fully masked rows.
#include <chrono>
#include <cmath>

#include "analysis/attention/cell.h"
#include "analysis/attention/head_summary.h"
#include "analysis/attention/links.h"
#include "analysis/attention/steps.h"
#include "analysis/attribution/stream_parts.h"
#include "analysis/prediction/generate.h"
#include "figure/figure.h"
#include "helpers.h"
#include "model/interventions/rules.h"

using namespace headlight;

namespace {

ForwardRequest translation(const std::vector<std::string>& changes, const ModelConfig& c,
                           std::vector<int> target = {0, 4, 7, 9}) {
    ForwardRequest request = request_of({5, 9, 200, 31, 12});
    request.inputs.push_back(request_of(std::move(target)).inputs[0]);
    for (const std::string& text : changes) {
        const auto change = parse_change(c, text);
        REQUIRE_MESSAGE(change, text);
        request.intervention.changes.push_back(*change);
    }
    return request;
}

}  // namespace

TEST_CASE("changes: rows follow their enum, and each reads its own spelling, by either name") {
    const auto model = reference_model("marian");
    const ModelConfig& c = model->config;
    const std::vector<std::string> tokens{"The", "cat"};
    int place = 0;
    for (const ChangeRow& row : change_rows()) {
        CAPTURE(row.name);
        CHECK(static_cast<int>(row.kind) == place++);
        CHECK(&change_row(row.kind) == &row);
        CHECK((row.target == ChangeTarget::head) == (row.apply != nullptr));
        if (row.target == ChangeTarget::expert) continue;  // Marian has none
        Change change;
        change.kind = row.kind;
        change.block = 1;
        const bool of_layer = row.target == ChangeTarget::attention || row.target == ChangeTarget::mlp ||
                              row.target == ChangeTarget::rows;
        change.head = of_layer ? -1 : 1;
        if (row.target == ChangeTarget::rows || row.kind == ChangeKind::patch_head)
            change.query = 1, change.queries = 3;
        if (row.kind == ChangeKind::noise) change.block = 0, change.value = 7;
        if (row.target == ChangeTarget::positions) change.block = change.head = -1;
        if (row.kind == ChangeKind::temperature || row.kind == ChangeKind::score) change.value = 0.5f;
        if (change.paints() || row.kind == ChangeKind::score) change.query = 1, change.key = 0;
        if (row.kind == ChangeKind::freeze || row.kind == ChangeKind::patch_mlp) change.from = "another text";
        const std::string spelled = change_name(c, change);
        const auto read = parse_change(c, spelled);
        REQUIRE_MESSAGE(read, spelled);
        CHECK(*read == change);
        CHECK(!change_label(c, change, {tokens, tokens}).empty());
    }
    CHECK(ablations().size() == 5);
    CHECK(change_label(c, *parse_change(c, "mask:1>0@encoder.1.1"), {tokens, tokens}) ==
          "mask cat 1 → The 0 in enc 1.1");
}

TEST_CASE("changes: a mean-ablated head depends on every query, but not after zero ablation") {
    const auto model = reference_model("gpt2");
    const auto rule_of = [&](const std::vector<std::string>& changes) {
        ForwardRequest request = request_of({5, 9, 200, 31, 12});
        for (const std::string& text : changes)
            request.intervention.changes.push_back(*parse_change(model->config, text));
        return (*attention_rules(*model, request.inputs, request.intervention))[0][1].self->changed[0];
    };
    CHECK(rule_of({"ablate:1.0:mean"}).depends_on_every_query);
    CHECK(!rule_of({"ablate:1.0:zero"}).depends_on_every_query);
    CHECK(!rule_of({"ablate:1.0:mean", "ablate:1.0:zero"}).depends_on_every_query);
    CHECK(rule_of({"ablate:1.0:mean", "temperature:0.5@1.0"}).depends_on_every_query);
}

TEST_CASE("places: every spelling round-trips, and applies to its blocks") {
    const auto model = reference_model("marian");  // encoder, decoder and cross, two layers each
    const ModelConfig& c = model->config;
    const auto concerned = [&](const char* text) {
        const auto change = parse_change(c, text);
        REQUIRE_MESSAGE(change, text);
        CHECK(change_name(c, *change) == text);
        CHECK(*parse_change(c, change_name(c, *change)) == *change);
        std::string out;
        for (int block = 0; block < c.blocks(); ++block)
            for (int head = 0; head < 2; ++head)
                if (change->concerns(c, block, head))
                    out += block_path(c, block)[0] + std::to_string(c.block(block).layer) + "." +
                           std::to_string(head) + " ";
        return out;
    };
    REQUIRE((c.stacks[0].depth() == 2 && c.stacks[1].depth() == 2));
    const std::string encoder = "e0.0 e0.1 e1.0 e1.1 ", decoder = "d0.0 d0.1 d1.0 d1.1 ",
                      cross = "c0.0 c0.1 c1.0 c1.1 ";
    CHECK(concerned("mask:1>0") == encoder + decoder);  // cells of one text
    CHECK(concerned("mask:1>0@*") == encoder + decoder + cross);
    CHECK(concerned("mask:1..>0@cross") == cross);
    CHECK(concerned("unmask:*>0@encoder") == encoder);
    CHECK(concerned("unmask:3-5>2..@decoder") == decoder);
    CHECK(concerned("mask:*>*@cross.1") == "c1.0 c1.1 ");
    CHECK(concerned("mask:1>0@encoder.0") == "e0.0 e0.1 ");
    CHECK(concerned("score:1>0@cross.0.1=-2.5") == "c0.1 ");
    CHECK(concerned("score:1>0@cross=-2.5") == cross);
    CHECK(concerned("temperature:0.5") == encoder + decoder + cross);  // every score
    CHECK(concerned("temperature:0.5@decoder.1") == "d1.0 d1.1 ");
    CHECK(*parse_change(c, "temperature:0.5@*") == *parse_change(c, "temperature:0.5"));
    CHECK(*parse_change(c, "mask:1>0@1.1") == *parse_change(c, "mask:1>0@decoder.1.1"));
    CHECK(*parse_change(c, "mask:1>0@1") == *parse_change(c, "mask:1>0@decoder.1"));
    const auto single = reference_model("gpt2");
    CHECK(parse_change(single->config, "mask:1>0@1"));
    CHECK(parse_change(single->config, "mask:1>0@*"));
    for (const char* text :
         {"mask:1>0@cross", "mask:1>0@encoder", "mask:1>0@", "mask:1>0@99", "mask:1>0@0.99", "mask:1>0@0.0.0",
          "mask:..>0", "mask:1...>0", "mask:*1>0", "mask:>0", "mask: 1>0", "mask:+1>0", "mask:-1>0",
          "score:*>0@0.0=1", "score:1..>0=1", "mask:1000000>0", "mask:99999999999>0", "temperature:1@cross"})
        CHECK_MESSAGE(!parse_change(single->config, text), text);
}

TEST_CASE("heads by name: only heads are accepted, and errors quote the input") {
    const ModelConfig c = reference_model("marian")->config;
    CHECK(*parse_head(c, "encoder.1.0", "") == AttentionHead{1, 0});
    CHECK(*parse_head(c, "decoder.0.1", "") == AttentionHead{2, 1});
    CHECK(*parse_head(c, "0.1", "") == AttentionHead{2, 1});
    CHECK(*parse_head(c, "cross.1.1", "") == AttentionHead{5, 1});
    for (int block = 0; block < c.blocks(); ++block)
        CHECK(*parse_head(c, head_path(c, block, 1), "") == AttentionHead{block, 1});
    for (const char* text :
         {"", ".", "1", "1.", ".1", "9.9", "1.99", "1.-1", "1.+1", "1. 1", "1.1 ", "1.1:keep", "1.1.1",
          "cross.1", "encoder.1.0x", "99999999999.0", "0.99999999999"}) {
        const auto read = parse_head(c, text, "--only-heads");
        REQUIRE_MESSAGE(!read, text);
        CHECK(read.error().message.find("correct --only-heads.") != std::string::npos);
        CHECK(read.error().message.find("--ablate") == std::string::npos);
    }
}

TEST_CASE("values that would overflow float32 are refused when typed, with one sentence") {
    const ModelConfig c = reference_model("gpt2")->config;
    for (const char* text : {"score:1>0@0.0=1e39", "score:1>0@0.0=inf", "score:1>0@0.0=-inf",
                             "score:1>0@0.0=nan", "score:1>0@0.0=1e31", "score:1>0@0.0=", "temperature:1e-38",
                             "temperature:1e-7", "temperature:1e39", "temperature:nan", "temperature:-inf",
                             "temperature:-0.5", "temperature:1e31@0.0", "temperature:"}) {
        const auto change = parse_change(c, text);
        REQUIRE_MESSAGE(!change, text);
        CHECK(change.error().message.find("cannot be used") != std::string::npos);
        CHECK(change.error().message.size() <= 300);
    }
    for (const char* text : {"score:1>0@0.0=1e30", "score:1>0@0.0=-1e30", "temperature:0", "temperature:1e-6",
                             "temperature:1e30", "temperature:inf"})
        CHECK_MESSAGE(parse_change(c, text), text);
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");  // the largest of all allowed values, together
    ForwardRequest request = request_of({5, 9, 200, 31});
    for (const char* text : {"score:3>0=1e30", "score:3>1=-1e30", "score:2>1=1e30", "temperature:1e-6"})
        request.intervention.changes.push_back(*parse_change(c, text));
    CHECK((*run_trace(model, request, pool))->normalized().all().allFinite());
}

TEST_CASE("changes: a temperature for all heads divides the scores of cross-attention too") {
    ThreadPool pool(1);
    const auto model = reference_model("marian");
    const auto plain = *run_trace(model, translation({}, model->config), pool),
               hard = *run_trace(model, translation({"temperature:0"}, model->config), pool);
    const int cross = model->config.blocks() - 1;
    CHECK(plain->pattern(cross, 0).maxCoeff() < 1);
    for (int block = 0; block < model->config.blocks(); ++block)
        CHECK((hard->pattern(block, 0).rowwise().maxCoeff().array() == 1).all());
}

TEST_CASE("changes: rows not generated yet are masked too, in generation as in a pass") {
    ThreadPool pool(1);
    const auto model = reference_model("marian");
    const auto request = translation({"mask:*>1@cross"}, model->config, {0});
    const Generation written = *generate(model, request, {{}, 14, {}}, pool);
    const Trace& last = *written.trace;
    REQUIRE(last.output().size() >= 12);
    for (int layer = 0; layer < 2; ++layer)
        CHECK(last.pattern(4 + layer, 0).col(1).cwiseAbs().maxCoeff() == 0);
    ForwardRequest whole = request;
    whole.inputs = last.request.inputs;
    CHECK(((*run_trace(model, whole, pool))->normalized().all() - last.normalized().all())
              .cwiseAbs()
              .maxCoeff() < 1e-5f);
    const auto later = *run_trace(model, translation({"mask:2..>1@cross.0"}, model->config), pool);
    CHECK(later->pattern(4, 0)(1, 1) > 0);
    CHECK((later->pattern(4, 0)(2, 1) == 0 && later->pattern(4, 0)(3, 1) == 0));
    CHECK(later->pattern(5, 0)(3, 1) > 0);
}

TEST_CASE("a rectangle painted over a plan equals its cells painted one by one") {
    std::mt19937 random(3);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int round = 0; round < 200; ++round) {
        const int n = 1 + below(9);
        MaskPlan whole = MaskPlan::make(*Mask::parse(below(2) ? "own" : "window:2"), {below(2) == 1, 0},
                                        std::vector<int>(n, 0));
        std::vector<std::vector<bool>> cells(n, std::vector<bool>(n));
        for (int q = 0; q < n; ++q)
            for (int k = 0; k < n; ++k) cells[q][k] = whole.allowed(q, k);
        for (int stroke = 0; stroke < 4; ++stroke) {
            const Rectangle r{below(12), below(12), below(4) ? 1 + below(4) : kToEnd,
                              below(4) ? 1 + below(4) : kToEnd};
            const bool allowed = below(2) == 1;
            whole.set(r, allowed);
            for (int q = r.query; q < std::min(n, r.query + r.queries); ++q)
                for (int k = r.key; k < std::min(n, r.key + r.keys); ++k) cells[q][k] = allowed;
        }
        for (int q = 0; q < n; ++q) {
            const auto& row = cells[q];
            const bool none = std::find(row.begin(), row.end(), true) == row.end();
            CHECK(whole.fully_masked(q) == none);
            for (int k = 0; k < n; ++k) {
                CHECK(whole.allowed(q, k) == row[k]);
                CHECK(whole.has_weight(q, k) == (none || row[k]));
                if (whole.has_weight(q, k)) CHECK(whole.weight_range(q).contains(k));
            }
        }
    }
}

TEST_CASE(
    "rectangles stay rectangles: equally painted heads share one mask, in every layer, and building "
    "stops when cancelled") {
    const auto model = reference_model("gpt2");
    ForwardRequest request = request_of(std::vector<int>(500, 5));
    request.intervention.changes.push_back(*parse_change(model->config, "unmask:0-500>0-500"));
    const auto begin = std::chrono::steady_clock::now();
    const auto rules = attention_rules(*model, request.inputs, request.intervention);
    REQUIRE(rules);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
    const MaskPlan& first = (*rules)[0][0].self->mask_of(0);
    for (const LayerRules& layer : (*rules)[0])
        for (int head = 0; head < layer.self->heads; ++head) CHECK(&layer.self->mask_of(head) == &first);
    CHECK((first.allowed(0, 499) && !first.hides_any()));
    const CancelFlag cancelled{true};
    CHECK(!attention_rules(*model, request.inputs, request.intervention, &cancelled));
}

TEST_CASE(
    "a fully masked row is uniform in the pattern, the heat map, the thumbnail, the lines, the steps, the "
    "numbers and the statistics") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    ForwardRequest request = request_of({5, 9, 200, 31, 77, 8});
    request.intervention.changes.push_back(*parse_change(model->config, "mask:3>*@1.0"));
    const auto trace = *run_trace(model, request, pool);
    const Matrix shown = masked_pattern(*trace, 1, 0);
    const auto heads = *summarize_heads(*trace, 6, pool);
    const HeadSummary& head = heads[model->config.heads(0)];
    const LayerLinks links = *answer_links(*trace, LinksRequest{1, 0.99f}, pool);
    const headlight::Steps steps = *answer_steps(*trace, StepsRequest{1, 0, 3}, pool, nullptr);
    CHECK(links.of_head[0][3].size() == 6);
    CHECK(steps.sum == doctest::Approx(6));
    CHECK(fully_masked_rows(*trace, 1, 0) == std::vector<int>{3});
    CHECK(fully_masked_rows(*trace, 1, 1).empty());
    CHECK(fully_masked_note(*trace, 1, 0).find("uniform") != std::string::npos);
    for (int k = 0; k < 6; ++k) {
        CHECK(trace->pattern(1, 0)(3, k) == doctest::Approx(1.0 / 6));
        CHECK(shown(3, k) == trace->pattern(1, 0)(3, k));
        CHECK(head.thumbnail(3, k) == shown(3, k));
        CHECK(links.of_head[0][3][k].weight == shown(3, k));
        CHECK(steps.keys[k].exp == 1);
        CHECK(head.thumbnail(2, k) == shown(2, k));
    }
    CHECK(report_cell(*trace, {1, 0, 3, 5}, true, pool).row.size() == 6);
    double bits = 0;  // the mean over all shown rows
    for (int q = 0; q < 6; ++q)
        for (int k = 0; k < 6; ++k)
            if (shown(q, k) > 0) bits -= double(shown(q, k)) * std::log2(double(shown(q, k))) / 6;
    CHECK(head.statistics[0] == doctest::Approx(bits).epsilon(1e-4));
}

TEST_CASE("a head has one name that users read and one that options spell") {
    const ModelConfig c = reference_model("marian")->config;
    CHECK(head_name(c, 1, 0) == "enc 1.0");
    CHECK(head_name(c, 2, 1) == "dec 0.1");
    CHECK(head_name(c, c.blocks() - 1, 0) == "cross 1.0");
    CHECK(head_path(c, 1, 0) == "encoder.1.0");
    for (int block = 0; block < c.blocks(); ++block)
        for (int head = 0; head < c.heads(block); ++head) {
            const StreamPart part{.kind = StreamPart::Kind::head, .block = block, .head = head};
            CHECK(stream_part_name(c, part) == head_name(c, block, head));
        }
}
