// Computes the station "Why divide by √d_k".
#include "learn/stations/scale.h"

#include <cmath>

#include "base/quoted.h"
#include "learn/dot_products.h"
#include "learn/normalizers.h"
#include "learn/page_parts.h"
#include "learn/score_function_table.h"
#include "learn/stations/query_key.h"
#include "learn/stations/small_vectors.h"

namespace headlight::learn {

namespace {

constexpr int kSampledWidths = 9, kSampledQueries = 100,
              kAdditiveQueries = 40;  // d_k = 1, 2, 4 … 256

struct SampledWidth {
    int d = 1;
    Spread products;
    SoftnessPair softness;
    Softness additive;
};

std::vector<SampledWidth> sample_widths(const ScaleState& state, ThreadPool& pool) {
    std::vector<SampledWidth> out(kSampledWidths);
    pool.run(kSampledWidths, [&](int tile) {
        const int i = kSampledWidths - 1 - tile;  // the longest first
        const unsigned seed = narrow<unsigned>(state.seed) * 1000 + i;
        out[i].d = 1 << i;
        out[i].products = spread_of(sampled_products(out[i].d, state.draws, seed));
        out[i].softness = sampled_softness(out[i].d, state.keys, kSampledQueries, seed + 500);
        out[i].additive = sampled_additive_softness(out[i].d, state.keys, kAdditiveQueries, seed + 700);
    });
    return out;
}

template <class Value>
Curves::Line sampled_line(const char* name, const std::vector<SampledWidth>& samples, const Value& value) {
    Curves::Line line{.name = name};
    for (const SampledWidth& s : samples) {
        line.x.push_back(float(s.d));
        line.y.push_back(float(value(s)));
    }
    return line;
}

/// Fixes one color per subject in all curves of the page.
enum LineColor { kPlain, kDivided, kHead, kHeadPlain, kAdditive };

Curves::Line colored(Curves::Line line, LineColor color) {
    line.color = color;
    return line;
}

/// Places the selected head beside the curves, if a head is open.
struct HeadOnCurves {
    std::string name, keys;  // "head 1.2", "up to 10 keys"
    float d = 0;
    HeadProducts of;
};

std::optional<HeadOnCurves> head_on_curves(const StationInput& input) {
    if (!has_head_scores(input)) return std::nullopt;
    const ModelConfig& c = input.trace->config();
    return HeadOnCurves{"head " + head_name(c, input.block, input.head),
                        "up to " + std::to_string(input.trace->key_count(input.block)) + " keys",
                        float(c.d_head(input.block)), head_products(*input.trace, input.block, input.head)};
}

/// Shows the selected query's weights with its scores divided, and without.
BarRows divided_bars(const StationInput& input) {
    const QueryKey x = head_query_key(input);
    const NormalizerKind& softmax = normalizers()[static_cast<int>(RowNormalizer::softmax)];
    const std::string root = "√" + std::to_string(x.q.cols());
    BarRows out{x.keys, {}, x.cells};
    const auto add = [&](const Matrix& scores, std::string title, std::string formula) {
        BarRows::Row row = bar_row(scores, normalize_rows(softmax, scores), x.query);
        row.title = std::move(title);
        row.formula = std::move(formula);
        row.emphasized = out.rows.empty();
        out.rows.push_back(std::move(row));
    };
    add(x.masked(scaled_dot_scores(x.q, x.k)), "Divided by " + root, "softmax(q · k / " + root + ")");
    add(x.masked(dot_scores(x.q, x.k)), "Not divided", "softmax(q · k)");
    return out;
}

Curves variance_curves(const std::vector<SampledWidth>& samples, const std::optional<HeadOnCurves>& head) {
    Curves out{.title = "Variance of q · k", .x_is = "d_k", .y_is = "variance", .log_x = true, .log_y = true};
    Curves::Line measured =
        sampled_line("sampled", samples, [](const SampledWidth& s) { return s.products.variance; });
    for (const SampledWidth& s : samples) measured.error.push_back(float(s.products.error));
    Curves::Line divided = sampled_line("divided by √d_k", samples,
                                        [](const SampledWidth& s) { return s.products.variance / s.d; });
    for (const SampledWidth& s : samples) divided.error.push_back(float(s.products.error / s.d));
    Curves::Line theory = sampled_line("d_k", samples, [](const SampledWidth& s) { return s.d; });
    theory.dashed = true;
    out.lines = {std::move(theory), colored(std::move(measured), kPlain),
                 colored(std::move(divided), kDivided)};
    if (head)
        out.lines.push_back(
            colored(line_of(head->name, {head->d}, {float(head->of.products.variance)}), kHeadPlain));
    return out;
}

/// Plots entropy or gradient with and without the division.
Curves softness_curves(const std::string& title, const char* y_is, double Softness::*number,
                       const std::vector<SampledWidth>& samples, const std::optional<HeadOnCurves>& head) {
    Curves out{.title = title, .x_is = "d_k", .y_is = y_is, .log_x = true};
    const auto divided = [&](const SampledWidth& s) { return s.softness.divided.*number; };
    const auto plain = [&](const SampledWidth& s) { return s.softness.plain.*number; };
    out.lines = {colored(sampled_line("divided by √d_k", samples, divided), kDivided),
                 colored(sampled_line("not divided", samples, plain), kPlain),
                 colored(sampled_line("additive, not divided", samples,
                                      [&](const SampledWidth& s) { return s.additive.*number; }),
                         kAdditive)};
    if (!head) return out;
    const HeadProducts& of = head->of;
    const std::string name = head->name + ", " + head->keys;
    out.lines.push_back(colored(line_of(name, {head->d}, {float(of.softness.divided.*number)}), kHead));
    out.lines.push_back(
        colored(line_of(name + ", not divided", {head->d}, {float(of.softness.plain.*number)}), kHeadPlain));
    return out;
}

Words scale_finding(const std::vector<SampledWidth>& samples) {
    const SampledWidth& wide = samples.back();
    const auto told = [&](const Softness& s) {
        return decimals(s.entropy, 2) + " bits and a gradient of " + decimals(s.gradient, 2);
    };
    return {"At d_k = " + std::to_string(wide.d) + " dot products leave the softmax " +
            told(wide.softness.plain) + "; divided, " + told(wide.softness.divided) +
            ". Additive scores need no division: " + told(wide.additive) + "."};
}

Table head_table(const StationInput& input, ThreadPool& pool) {
    const ModelConfig& c = input.trace->config();
    Table out{.title = "The heads of this layer, on the sentence",
              .columns = {"head", "variance of q · k", "after scaling", "entropy, bits",
                          "entropy, not scaled", "gradient", "gradient, not scaled"}};
    std::vector<HeadProducts> heads(c.heads(input.block));
    pool.run(isize(heads), [&](int head) { heads[head] = head_products(*input.trace, input.block, head); });
    for (int head = 0; head < isize(heads); ++head) {
        const HeadProducts& of = heads[head];
        add_cells(out,
                  {words_cell(head_name(c, input.block, head)), number_cell(of.products.variance),
                   number_cell(of.products.variance * of.scale * of.scale),
                   number_cell(of.softness.divided.entropy), number_cell(of.softness.plain.entropy),
                   number_cell(of.softness.divided.gradient, 3), number_cell(of.softness.plain.gradient, 3)});
    }
    return out;
}

}  // namespace

void ScaleState::visit(ControlVisitor& v) {
    v.whole("draws", "Pairs of each width", draws, 10, 5000);
    v.whole("keys", "Keys", keys, 2, 256);
    v.whole("seed", "Seed", seed, 1, 1000);
}

Result<Page> scale_page(const StationInput& input, const ScaleState& state, ThreadPool& pool) {
    const std::vector<SampledWidth> samples = sample_widths(state, pool);
    const std::optional<HeadOnCurves> head = head_on_curves(input);
    Page page;
    page.note = std::to_string(state.draws) + " random pairs of each width; bars: ± one standard error";
    page.blocks = {scale_finding(samples), variance_curves(samples, head),
                   softness_curves("Entropy of " + std::to_string(state.keys) + " weights", "bits",
                                   &Softness::entropy, samples, head),
                   softness_curves("Size of the softmax's gradient", "‖∂ weights ÷ ∂ scores‖",
                                   &Softness::gradient, samples, head)};
    if (has_head(input) && head) {
        page.blocks.insert(page.blocks.begin(), divided_bars(input));
        page.main = 1;
    }
    if (head) {
        const float scale = head->of.scale;
        page.blocks.push_back(head_table(input, pool));
        page.blocks.push_back(Words{
            "Trained q and k are not independent, so their variance need not be d_k. The model multiplies "
            "q · k by " +
            written(scale, 4) + "."});
    }
    return page;
}

}  // namespace headlight::learn
