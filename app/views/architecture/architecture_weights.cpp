// Draws the weights of the selected block: its matrices as images, and their singular values.
#include <algorithm>
#include <limits>

#include "base/quoted.h"
#include "model/engine.h"
#include "paint/matrix.h"
#include "parts/blocks.h"
#include "views/architecture/architecture.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kWeightHead = 24, kHeadMap = 66, kTall = 120, kRowMap = 26;

const char* part_title(WeightsPart part) {
    static constexpr const char* kTitles[] = {"Embedding",       "Positions", "Attention norm", "Attention",
                                              "MLP norm",        "MLP",       "Final norm",     "Unembedding",
                                              "Layer embedding", "LAuReL",    "Streams"};
    return row_of(kTitles, part);
}

/// The view of the block, or null.
const char* part_view(WeightsPart part) {
    static constexpr const char* kViews[] = {"delta", "positions", nullptr, "head",  nullptr, "lens",
                                             nullptr, "lens",      nullptr, nullptr, nullptr};
    return row_of(kViews, part);
}

bool in_layers(WeightsPart part) {
    return part != WeightsPart::embedding && part != WeightsPart::positions &&
           part != WeightsPart::final_norm && part != WeightsPart::unembedding;
}

std::string title_of(const Scene& s, const BlockWeightsRequest& asked) {
    const ModelConfig& c = full_config(*s.model());
    if (asked.part == WeightsPart::attention) return "Head " + head_name(c, asked.block, asked.head);
    const std::string stack = c.stacks.size() > 1 ? c.stacks[c.block(asked.block).stack].name + " · " : "";
    const std::string layer =
        in_layers(asked.part) ? " · layer " + std::to_string(c.block(asked.block).layer) : "";
    return stack + part_title(asked.part) + layer;
}

void draw_weights_title(Scene& s, Rect& rest, const BlockWeightsRequest& asked) {
    Ui& ui = s.ui;
    Rect line = take_top(rest, kWeightHead + gap::small);
    const char* view = part_view(asked.part);
    if (view && !ui.on_page()) {
        const std::string label = std::string("Open ") + find_view(view)->name;
        const Rect link = take_right(line, ui.text.width(kCaption, label), gap::medium);
        if (ui.link("model/open", link.right(), link.middle_y(), label)) s.send(std::string("view ") + view);
    }
    write(ui, line, kBody, ui.colors->t1, title_of(s, asked));
}

/// "12", "12–14": the range that a pixel covers.
std::string covered(int step, int at, Index count) {
    const auto first = Index{at} * step, last = std::min(count, first + step) - 1;
    return std::to_string(first) + (last > first ? "–" + std::to_string(last) : "");
}

void answer_weight_map(Scene& s, const WeightMap& m, Rect r, const std::string& path) {
    Ui& ui = s.ui;
    int& dimension = s.of<ArchitectureState>().dimension;
    const Hit hit = ui.hit(path, r);
    const auto rows = narrow<int>(m.values.rows()), columns = narrow<int>(m.values.cols());
    const Grid g{r, rows, columns, r.w / float(columns), r.h / float(rows)};
    if (hit.hovered) {
        const auto [row, column] = g.at(hit.mouse);
        dimension = column * m.across;
        const std::string down = m.rows > 1 ? ", " + m.down_is + " " + covered(m.down, row, m.rows) : "";
        const bool pooled = m.down * m.across > 1;
        ui.tooltip(path, hit,
                   m.name + " at dimension " + covered(m.across, column, m.columns) + down + ": " +
                       number(m.values(row, column), 4) + (pooled ? ", the largest magnitude there." : "."));
    }
    const int at = dimension / std::max(1, m.across);
    if (dimension >= 0 && dimension < m.columns)
        ui.fill({g.x(at), r.y - 2, std::max(g.w, ui.line()), r.h + 4}, faded(ui.colors->hover, 0.35f));
}

float height_of(const WeightMap& m, WeightsPart part) {
    return m.rows == 1 ? kRowMap : part == WeightsPart::attention ? kHeadMap : kTall;
}

void draw_weight_map(Scene& s, Rect& rest, const WeightMap& m, WeightsPart part, const std::string& path) {
    Ui& ui = s.ui;
    Rect line = take_top(rest, kWeightHead);
    const std::string range = "largest " + number(m.largest, 3) + " · typical " + number(m.typical, 3);
    take_left(line, write(ui, line, kCaptionMono, ui.colors->t1, m.name), gap::small);
    take_right(line, write(ui, line, kCaption, ui.colors->t3, range, Flush::right), gap::small);
    write(ui, line, kCaption, ui.colors->t2, m.shape);
    const Rect r = take_top(rest, height_of(m, part), gap::tight);
    draw_matrix(ui, r, {m.places, signed_colormap(ui.colors->dark), true});
    ui.frame(r, ui.colors->l1);
    answer_weight_map(s, m, r, path);
}

/// Names the factors of scores and outputs that stored matrices lack.
std::string stored_weights_note(const ModelConfig& c) {
    const bool gains = !c.norms_sums(), turns = c.positions == PositionScheme::rotary;
    if (!gains && !turns) return " Matrices and circuits use the weights as stored.";
    return std::string(" Matrices and circuits use the weights as stored, without ") +
           (gains ? "the norm's γ" : "") + (gains && turns ? " and " : "") + (turns ? "the rotation" : "") +
           ".";
}

/// Describes the images' axes and colors.
std::string map_caption(const WeightMap& m) {
    std::string out = "Across: the " + std::to_string(m.columns) + " dimensions of the residual stream";
    if (m.rows > 1) out += "; down: " + m.down_is;
    out += ". ";
    if (m.down * m.across > 1)
        out += "Each cell is the weight of largest magnitude among " + std::to_string(m.down) + " × " +
               std::to_string(m.across) + ". ";
    return out + "Colors saturate at " + decimals(kWeightReach, 0) +
           " × the typical weight, or at the largest. Without biases.";
}

/// Draws "−▬▬▬+" and the caption.
void draw_map_words(Scene& s, Rect& rest, const WeightMap& m, WeightsPart part) {
    constexpr float kBar = 60, kScale = 100;
    Ui& ui = s.ui;
    Rect words = rest;
    Rect scale = line_at(take_right(words, kScale, gap::small), rest.y + size::line / 2, size::line);
    for (const char* end : {"+", "−"}) {
        take_right(scale, write(ui, scale, kCaptionMono, ui.colors->t2, end, Flush::right), gap::tight);
        if (*end == '+')
            ui.gradient(band(take_right(scale, kBar, gap::tight), size::bar),
                        signed_colormap(ui.colors->dark));
    }
    const std::string stored =
        part == WeightsPart::attention ? stored_weights_note(full_config(*s.model())) : std::string();
    take_top(rest, std::max(size::line, caption_lines(ui, words, map_caption(m) + stored)), gap::medium);
}

learn::Curves curves_of(const char* title, const std::vector<WeightSpectrum>& spectra) {
    learn::Curves out{.title = title, .x_is = "number", .y_is = "singular value"};
    for (const WeightSpectrum& spectrum : spectra) {
        learn::Curves::Line line{.name = spectrum.name};
        for (Index i = 0; i < spectrum.values.size(); ++i) {
            line.x.push_back(float(i + 1));
            line.y.push_back(spectrum.values[i]);
        }
        out.lines.push_back(std::move(line));
    }
    return out;
}

/// Draws the singular values of matrices and circuits, side by side if they fit.
void draw_spectra(Scene& s, Rect& rest, const BlockWeights& weights) {
    constexpr float kLeastPlot = 210, kPlot = 150;
    Ui& ui = s.ui;
    learn::BlockPen pen{ui, colormap(s.session.preferences.colormap, ui.colors->dark), "model/plot"};
    pen.plot_high = kPlot;
    std::vector<learn::Curves> plots;
    if (!weights.matrices.empty()) plots.push_back(curves_of("Singular values", weights.matrices));
    if (!weights.circuits.empty()) plots.push_back(curves_of("Circuits: QK and OV", weights.circuits));
    const auto count = isize(plots);
    const bool beside = count > 1 && rest.w >= 2 * kLeastPlot + gap::wide;
    float high = 0;
    for (int i = 0; i < count; ++i) {
        const Rect place = beside ? nth_column(rest, i, count, gap::wide) : rest;
        const float h = learn::draw_plot(pen, place.min(), place.w, plots[i]);
        high = std::max(high, h);
        if (!beside) take_top(rest, h, gap::medium);
    }
    if (beside) take_top(rest, high, gap::medium);
}

}  // namespace

float draw_block_weights(Scene& s, Rect place) {
    const auto* found = s.found<BlockWeightsRequest>();
    if (!found) return place.h;
    Rect rest = place;
    draw_weights_title(s, rest, found->asked);
    const BlockWeights& weights = found->answer;
    if (weights.maps.empty()) caption(s.ui, take_top(rest, size::line), "This block has no learned weights.");
    int& dimension = s.of<ArchitectureState>().dimension;
    if (!s.ui.over(place).hovered) dimension = -1;
    for (int i = 0; i < isize(weights.maps); ++i)
        draw_weight_map(s, rest, weights.maps[i], found->asked.part, "model/weights/" + std::to_string(i));
    if (!weights.maps.empty()) {
        take_top(rest, gap::tight);
        draw_map_words(s, rest, weights.maps.front(), found->asked.part);
    }
    draw_spectra(s, rest, weights);
    return rest.y - place.y;
}

std::vector<Question> ask_architecture(const Scene& s) {
    const auto& state = s.of<ArchitectureState>();
    const auto [block, head] = s.session.selection.shown_head();
    const ModelConfig& c = full_config(*s.model());
    if (state.config != ArchitectureState::Of::open) return {};
    if (state.maps && c.stacks.size() > 1)
        return {LayerPatternsRequest{c.block(block).layer, state.mean ? -1 : head}};
    return {BlockWeightsRequest{state.part, block, state.part == WeightsPart::attention ? head : 0}};
}

namespace {

NumberTable counts_table(const ModelConfig& c) {
    const auto counts = named_counts(c);
    NumberTable t{"counts", "count", "number of", {}, {}, {}};
    t.columns = {"matrices", "with biases, norms and positions", "share of matrices"};
    t.exact = DoubleMatrix::Constant(isize(counts), 3, std::numeric_limits<double>::quiet_NaN());
    for (int i = 0; i < isize(counts); ++i) {
        t.rows.push_back(counts[i].name + (counts[i].of.empty() ? "" : " (" + counts[i].of + ")"));
        t.exact(i, 0) = double(counts[i].matrices);
        t.exact(i, 1) = double(counts[i].all);
        if (counts[i].shares || counts[i].whole) t.exact(i, 2) = share_of(counts[i], c);
    }
    t.values = t.exact.cast<float>();
    return t;
}

NumberTable parameters_table(const ModelConfig& c) {
    const auto table = parameter_table(c);
    NumberTable t{"parameters", "parameters of", "number", {}, {}, {}};
    t.columns = {"each", "times", "total"};
    t.exact.resize(isize(table), 3);
    for (int i = 0; i < isize(table); ++i) {
        t.rows.push_back(table[i].block + " (" + table[i].shape + ")");
        t.exact.row(i) << double(table[i].each), table[i].count, double(table[i].each * table[i].count);
    }
    t.values = t.exact.cast<float>();
    t.beside = true;
    return t;
}

NumberTable spectra_table(const BlockWeights& weights) {
    NumberTable t{"singular values", "number", "matrix", {}, {}, {}};
    std::vector<WeightSpectrum> all = weights.matrices;
    all.insert(all.end(), weights.circuits.begin(), weights.circuits.end());
    Index max = 0;
    for (const WeightSpectrum& spectrum : all) max = std::max(max, spectrum.values.size());
    t.values = Matrix::Constant(max, isize(all), std::numeric_limits<float>::quiet_NaN());
    t.rows = counted(max, 1);
    for (int i = 0; i < isize(all); ++i) {
        t.columns.push_back(all[i].name);
        t.values.col(i).head(all[i].values.size()) = all[i].values;
    }
    t.beside = true;
    return t;
}

/// "0", "8", …: the first index that each pixel covers.
std::vector<std::string> steps_of(Index count, int step) {
    std::vector<std::string> out;
    for (Index i = 0; i < count; ++i) out.push_back(std::to_string(i * step));
    return out;
}

}  // namespace

std::vector<NumberTable> architecture_numbers(const Scene& s) {
    const CountedConfig shown = counted_config(s);
    std::vector<NumberTable> out{counts_table(shown.config), parameters_table(shown.config)};
    const auto* found = s.found<BlockWeightsRequest>();
    if (!shown.open || !found) return out;
    if (!found->answer.matrices.empty()) out.push_back(spectra_table(found->answer));
    for (const WeightMap& m : found->answer.maps)
        out.push_back({m.name,
                       m.rows > 1 ? m.down_is : "row",
                       "dimension of the residual stream",
                       steps_of(m.values.rows(), m.down),
                       steps_of(m.values.cols(), m.across),
                       m.values,
                       {},
                       {},
                       true});
    return out;
}

}  // namespace headlight
