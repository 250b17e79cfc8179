// Tests statistics, summaries and cells on cases computed by hand.
#include <cmath>
#include <limits>

#include "analysis/attention/cell.h"
#include "analysis/attention/head_summary.h"
#include "analysis/attention/links.h"
#include "analysis/attribution/delta.h"
#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "base/check.h"
#include "changed.h"
#include "figure/canvas.h"
#include "figure/figure.h"
#include "figure/file_formats.h"
#include "helpers.h"
#include "questions/answering.h"

using namespace headlight;

namespace {

float statistic(const char* key, std::vector<float> row, int q, std::vector<int> ids) {
    return find_statistic(key)->of_query({row, 0, q, last_copies(ids)});
}

}  // namespace

TEST_CASE("the weights of a cell are those of each head's pattern, in blocks that read the same text") {
    ThreadPool pool(2);
    const auto marian = reference_model("marian");
    const auto trace = changed(marian, {}, pool);
    const ModelConfig& c = marian->config;
    for (int block = 0; block < c.blocks(); ++block) {
        CellWeightsRequest asked{block, 1, 2};
        asked.clamp_to(*trace);
        const auto found = answer_cell_weights(*trace, asked, pool);
        REQUIRE(found);
        for (int i = 0; i < c.head_count(); ++i) {
            const AttentionHead head = c.head_at(i);
            const AttentionBlock here = c.block(block), there = c.block(head.block);
            if (here.stack != there.stack || here.key_stack != there.key_stack)
                CHECK(std::isnan((*found)[head]));
            else
                CHECK((*found)[head] ==
                      trace->pattern_rows(head.block, head.head, asked.query, 1)(0, asked.key));
        }
    }
    CellWeightsRequest beyond{99, 999, 999};
    beyond.clamp_to(*trace);
    CHECK(answer_cell_weights(*trace, beyond, pool));
}

TEST_CASE("statistics of one query, by hand") {
    const std::vector<int> ids{7, 8, 7, 9};
    CHECK(statistic("entropy", {0.5f, 0.25f, 0.25f, 0}, 2, ids) == doctest::Approx(1.5));
    CHECK(statistic("entropy", {1, 0, 0, 0}, 2, ids) == doctest::Approx(0));
    CHECK(statistic("previous", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.6));
    CHECK(std::isnan(statistic("previous", {1, 0, 0, 0}, 0, ids)));
    CHECK(statistic("first", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.1));
    CHECK(statistic("self", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.3));
    CHECK(statistic("duplicate", {0.1f, 0.6f, 0.3f, 0}, 2, ids) == doctest::Approx(0.1));  // id 7 was at 0
    CHECK(statistic("induction", {0.1f, 0.6f, 0.3f, 0}, 2, ids) ==
          doctest::Approx(0.6));  // what followed it is at 1
    CHECK(std::isnan(statistic("induction", {0.1f, 0.6f, 0.3f, 0}, 3, ids)));
    CHECK(statistic("distance", {0.5f, 0, 0.5f, 0}, 2, ids) == doctest::Approx(1));
    const std::vector<int> thrice{7, 7, 8,
                                  7};  // the copy just before the query is followed only by the query
    CHECK(last_copies(thrice) == std::vector<int>{-1, 0, -1, 1});
    CHECK(std::isnan(statistic("induction", {0.5f, 0.5f}, 1, thrice)));
    CHECK(statistic("induction", {0.1f, 0.2f, 0.3f, 0.4f}, 3, thrice) == doctest::Approx(0.5));
    CHECK(statistic("duplicate", {0.1f, 0.2f, 0.3f, 0.4f}, 3, thrice) == doctest::Approx(0.3));
}

TEST_CASE("statistics of a row do not depend on leading keys of weight 0") {
    std::vector<float> row(40, 0.0f);
    row[17] = 0.25f, row[20] = 0.5f, row[30] = 0.25f;
    std::vector<int> ids(40);
    for (int i = 0; i < 40; ++i) ids[i] = i % 7;
    const std::vector<int> copies = last_copies(ids);
    for (const HeadStatistic& s : head_statistics())
        for (const int q : {17, 21, 30, 39}) {
            const float whole = s.of_query({row, 0, q, copies}),
                        part = s.of_query({std::span(row).subspan(16, 20), 16, q, copies});
            CAPTURE(s.key);
            CHECK(whole == part);
        }
}

TEST_CASE("summaries agree with the patterns, and thumbnails are max-pooled") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    std::vector<int> ids;
    for (int i = 0; i < 45; ++i) ids.push_back(i * 11 % 420);
    const auto trace = trace_of(model, ids, pool);
    const auto heads = summarize_heads(*trace, 8, pool);
    REQUIRE(heads);
    for (int i = 0; i < isize(*heads); ++i) {
        const Matrix p = trace->pattern(i / 4, i % 4);
        const Matrix& t = (*heads)[i].thumbnail;
        CHECK(t.rows() == 6);  // 8 tokens each: with 4, twelve entries would be more than 8
        for (int r = 0; r < 6; ++r)
            for (int c = 0; c < 6; ++c) {
                const auto first = [](int entry) { return std::min(entry * 8, 45); };
                const auto block =
                    p.block(first(r), first(c), first(r + 1) - first(r), first(c + 1) - first(c));
                if (c > r)
                    CHECK(t(r, c) == kMasked);
                else
                    CHECK(t(r, c) == doctest::Approx(block.maxCoeff()));
            }
        double previous = 0;
        for (int q = 1; q < 45; ++q) previous += p(q, q - 1);
        CHECK((*heads)[i].statistics[1] == doctest::Approx(previous / 44).epsilon(1e-4));
    }
}

TEST_CASE("links: the heaviest keys that reach the share, and no more than requested") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9, 77, 300}, pool);
    const auto links = answer_links(*trace, LinksRequest{1, 0.7f}, pool);
    REQUIRE(links);
    for (int h = 0; h < 4; ++h) {
        const Matrix p = trace->pattern(1, h);
        for (int q = 0; q < 8; ++q) {
            const auto& row = links->of_head[h][q];
            float mass = 0, before_last = 0;
            for (const Link& link : row) {
                CHECK(link.weight == p(q, link.key));
                before_last = mass;
                mass += link.weight;
            }
            CHECK(row[0].weight == p.row(q).maxCoeff());
            CHECK(before_last < 0.7f);
            CHECK(mass >= 0.7f);
        }
    }
}

TEST_CASE("head colors are the design's, dark and light") {
    const char* dark[] = {"#F98F87", "#E5A14B", "#AFBB52", "#5ACA94",
                          "#00C8D8", "#6DB6FF", "#B7A0FB", "#E88FCB"};
    const char* light[] = {"#AB413E", "#9A5600", "#687100", "#00804C",
                           "#007E8F", "#116BB5", "#7055B0", "#9B4382"};
    for (int h = 0; h < 8; ++h)
        for (const bool on_dark : {true, false}) {
            const Rgb c = head_color(h, 8, on_dark), want = parse_hex(on_dark ? dark[h] : light[h]);
            CHECK(std::abs(c.r - want.r) <= 1);
            CHECK(std::abs(c.g - want.g) <= 1);
            CHECK(std::abs(c.b - want.b) <= 1);
        }
}

TEST_CASE("halving keeps the largest, odd ends included") {
    Matrix m(3, 3);
    m << 1, 2, 3, 4, 5, 6, 7, 8, -1;
    const Matrix h = halve(m);
    CHECK(h(0, 0) == 5);
    CHECK(h(0, 1) == 6);
    CHECK(h(1, 0) == 8);
    CHECK(h(1, 1) == -1);
}

TEST_CASE("the inspector's numbers agree with the trace") {
    ThreadPool pool(2);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9}, pool);
    const CellReport r = report_cell(*trace, {1, 2, 4, 3}, true, pool);
    const Matrix p = trace->pattern(1, 2);
    CHECK(r.weight == doctest::Approx(p(4, 3)));
    CHECK(r.score == doctest::Approx(trace->scores(1, 2)(4, 3)).epsilon(1e-4));
    CHECK(r.dot == doctest::Approx(r.score * std::sqrt(12.0)).epsilon(1e-4));
    CHECK(r.allowed);
    CHECK(r.ranked == 5);  // causal: the keys up to its own
    CHECK(!report_cell(*trace, {1, 2, 3, 4}, true, pool).allowed);
    CHECK(r.row.size() == 5);
    CHECK(r.row[0].probability == doctest::Approx(p.row(4).maxCoeff()));
    CHECK(r.scaled == doctest::Approx(r.score));
    CHECK(r.delta_norm == doctest::Approx(trace->results(1, 4, pool).row(2).norm()));
    CHECK(r.weight_by_head.size() == 12);
    CHECK(r.weight_by_head[6] == doctest::Approx(r.weight));
    float shares = 0;
    for (int h = 0; h < 4; ++h) shares += report_cell(*trace, {1, h, 4, 3}, true, pool).layer_share;
    CHECK(shares == doctest::Approx(1));
}

TEST_CASE("predictions are sorted, sum to less than 1, and greedy takes the first") {
    ThreadPool pool(1);
    const auto model = reference_model("gpt2");
    const auto trace = trace_of(model, {5, 9, 200}, pool);
    CHECK(predicting_positions(*trace) == std::vector<int>{2});
    const auto next = predictions(*trace, 2, 420, pool);
    float sum = 0;
    for (size_t i = 0; i < next.size(); ++i) {
        sum += next[i].probability;
        if (i) CHECK(next[i - 1].probability >= next[i].probability);
    }
    CHECK(sum == doctest::Approx(1));
    CHECK((*generated_ids(model, request_of({5, 9, 200}), {{}, 3, {}}, pool))[0] == next[0].id);
    CHECK(*generated_ids(model, request_of({5, 9, 200}), {{1.0f, 20, 0.9f, 7}, 8, {}}, pool) ==
          *generated_ids(model, request_of({5, 9, 200}), {{1.0f, 20, 0.9f, 7}, 8, {}}, pool));
    CHECK(generated_ids(model, request_of(std::vector<int>(47, 1)), {{}, 9, {}}, pool)->size() ==
          1);  // the context holds 48
}

TEST_CASE("color maps of a dark and a light page") {
    const Colormap& dark = colormap("viridis", true);
    const Colormap& light = colormap("viridis", false);
    CHECK(dark[0].r == light[255].r);
    CHECK(parse_hex("#FFB454").g == 0xB4);
}

TEST_CASE("figures: the same bytes on two runs and with any number of threads") {
    const TemporaryFolder folder;
    ThreadPool one(1), three(3);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9}, one);
    const auto write_figure = [&](const std::filesystem::path& path, const FigureKind& kind,
                                  const FigureOptions& options, ThreadPool& pool) -> Status {
        TRY(const Drawing drawing, kind.make(trace, options, pool));
        return write_page(path, drawing);
    };
    for (const auto& kind : figure_kinds())
        for (const char* end : {".png", ".pdf", ".svg"}) {
            const auto a = folder.path / (std::string("a") + end), b = folder.path / (std::string("b") + end);
            REQUIRE(write_figure(a, kind, {}, one));
            REQUIRE(write_figure(b, kind, {}, three));
            CHECK(read_bytes(a).size() > 1000);
            CHECK(read_bytes(a) == read_bytes(b));
        }
    CHECK(!write_figure(folder.path / "a.gif", *find_figure("head"), {}, one));
    FigureOptions huge;
    huge.width_px = 50000;
    huge.height_px = 50000;
    CHECK(!write_figure(folder.path / "a.png", *find_figure("head"), huge, one));
}

TEST_CASE("tokens of an outlying length are no part of the plane of embeddings") {
    const Matrix even = Matrix::Ones(5, 3);
    Matrix sink = even;
    sink.row(2) *= 148;
    CHECK(long_tokens({even, sink}) == std::vector<int>{2});
    CHECK(long_tokens({even, even}).empty());
    sink.row(2) = 9 * even.row(2);
    CHECK(long_tokens({even, sink}).empty());
    CHECK(long_tokens({Matrix::Zero(3, 2)}).empty());
}
