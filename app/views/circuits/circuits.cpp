#include "views/circuits/circuits.h"

#include <algorithm>
#include <cmath>

#include "model/engine.h"
#include "parts/matrix_view.h"
#include "session/commands/command_rows.h"
#include "views/views.h"

namespace headlight {

void CircuitsState::visit(FieldVisitor& v) {
    v.choose("circuits_graph", graph,
             {"circuits as",
              "Circuits: map or graph",
              "compositions of all heads as a map, or the strongest ones as a graph",
              {"map", "graph"}},
             {.name = "graph",
              .help = "heads by layer with the strongest compositions between them, instead of the map",
              .flag = true,
              .figure_alone = true});
    v.choose("circuits_kind", kind,
             {"circuits composition",
              "Circuits: composition",
              "input of the later head: queries, keys or values",
              {"q", "k", "v"}});
    v.integer("circuits_strongest", strongest, kLeastComposed, kMaxComposed,
              {.name = "strongest", .help = "number of compositions", .with = "graph", .figure_alone = true});
    constexpr const char *kKeys[] = {"circuits_q", "circuits_k", "circuits_v"},
                         *kCommands[] = {"circuits q", "circuits k", "circuits v"};
    for (int k = 0; k < kCompositionKinds; ++k)
        v.choose(kKeys[k], kinds[k],
                 {kCommands[k],
                  std::string("Circuits: ") + kCompositionNames[k] + " in the graph",
                  std::string(kCompositionNames[k]) + " composition among the edges of the graph",
                  {"off", "on"}});
    v.integer("circuits_tokens", tokens, 0, 8192);
    v.choose_among(tokens, kCircuitTokens,
                   {"circuits tokens",
                    "Circuits: tokens",
                    "number of vocabulary tokens searched for pairs",
                    {"2048", "8192", "all"}});
}

std::string composed_text(const ModelConfig& c, int reader, int writer, float value) {
    return head_name(c, c.head_at(reader).block, c.head_at(reader).head) + " reads " +
           head_name(c, c.head_at(writer).block, c.head_at(writer).head) + ": " + number(value, 3);
}

namespace {

constexpr float kComposedNames = 64, kMaxHeadCell = 24;

void choose_circuits(Scene& s, Toolbar& bar) {
    auto& state = s.of<CircuitsState>();
    choose_head(s, bar, "circuits");
    if (const int i = bar.segments("", "circuits/as", {{"Map", "Graph"}, {}, state.graph ? 1 : 0}); i >= 0)
        state.graph = i == 1;
    if (state.graph)
        choose_composed(s, bar);
    else
        bar.choose("Composition", "circuits/composition", {"into queries", "into keys", "into values"},
                   state.kind);
    const auto tokens =
        std::find(kCircuitTokens.begin(), kCircuitTokens.end(), state.tokens) - kCircuitTokens.begin();
    if (const int i = bar.choice("Pairs among", "circuits/tokens",
                                 {"the first 2,048 tokens", "the first 8,192 tokens", "all tokens"},
                                 narrow<int>(tokens));
        i >= 0)
        state.tokens = kCircuitTokens[i];
}

/// "cross 2": its kind, "cross", and its number; a model with one kind has only numbers.
std::pair<std::string, std::string> parts_of_block_name(const ModelConfig& c, int block) {
    const std::string name = block_name(c, block);
    const size_t space = name.find(' ');
    return space == std::string::npos ? std::pair(std::string(), name)
                                      : std::pair(name.substr(0, space), name.substr(space + 1));
}

/// Draws a column's name: under the name of its kind if that stands above several, as for narrow columns.
void name_block_column(Scene& s, const Grid& g, int block, int first, bool two_lines, ImU32 ink) {
    Ui& ui = s.ui;
    const ModelConfig& c = full_config(*s.model());
    const auto [kind, number] = parts_of_block_name(c, block);
    const float wide = float(c.heads(block)) * g.w;
    const Rect line{g.x(first), g.view.y - size::line - gap::tight, wide, size::line};
    write(ui, line, kCaptionMono, ink, two_lines ? number : block_name(c, block), Flush::center);
    if (!two_lines || kind.empty() || (block > 0 && parts_of_block_name(c, block - 1).first == kind)) return;
    int last = block, heads = 0;
    for (; last < c.blocks() && parts_of_block_name(c, last).first == kind; ++last) heads += c.heads(last);
    write(ui, {line.x, line.y - size::line, float(heads) * g.w, size::line}, kCaptionMono, ui.colors->t2,
          kind, Flush::center);
}

/// Draws names of blocks centered on their heads, and lines between blocks.
void name_blocks(Scene& s, const Grid& g) {
    constexpr float kApart = 14;
    Ui& ui = s.ui;
    const ModelConfig& c = full_config(*s.model());
    const AttentionHead chosen = chosen_head(s);
    bool two_lines = false;
    for (int block = 0; block < c.blocks(); ++block)
        two_lines |=
            ui.text.width(kCaptionMono, block_name(c, block)) + gap::small > float(c.heads(block)) * g.w;
    float written_down = -1e9f, written_across = -1e9f;
    for (int block = 0, first = 0; block < c.blocks(); first += c.heads(block), ++block) {
        const auto heads = float(c.heads(block));
        const Rect rows{g.view.x - kComposedNames, g.y(first), kComposedNames - gap::small, heads * g.h};
        const ImU32 ink = block == chosen.block ? ui.colors->accent_text : ui.colors->t2;
        if (rows.middle_y() - written_down >= kApart) {
            write(ui, rows, kCaptionMono, ink, block_name(c, block), Flush::right);
            written_down = rows.middle_y();
        }
        const float middle = g.x(first) + heads * g.w / 2,
                    needs = ui.text.width(kCaptionMono, parts_of_block_name(c, block).second) + gap::small;
        if (middle - written_across >= needs) {
            name_block_column(s, g, block, first, two_lines, ink);
            written_across = middle;
        }
        if (first == 0) continue;
        ui.stroke({g.view.x, g.y(first)}, {g.view.right(), g.y(first)}, ui.colors->l1, ui.line());
        ui.stroke({g.x(first), g.view.y}, {g.x(first), g.view.bottom()}, ui.colors->l1, ui.line());
    }
}

/// Frames the row in which the selected head reads and the column in which it writes.
void draw_chosen(Scene& s, const Grid& g) {
    const int at = full_config(*s.model()).head_index(chosen_head(s));
    const ImU32 ink = faded(s.ui.colors->accent, 0.7f);
    s.ui.frame(g.row(at), ink, s.ui.line());
    s.ui.frame({g.x(at), g.view.y, g.w, g.view.h}, ink, s.ui.line());
}

/// The composition of each pair of heads; name_blocks draws the labels.
MatrixView composition_matrix(const Scene& s, const Composition& of) {
    const CircuitsState& state = s.of<CircuitsState>();
    const Matrix& values = of[state.kind];
    const Colormap& colors = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const float largest = largest_size(values);
    const auto kind = static_cast<int>(state.kind);
    return {.path = "circuits/map",
            .cells = {places_of(values, largest), colors},
            .rows = {.name = nullptr, .title = "reads", .room = kComposedNames},
            .columns = {.name = nullptr, .title = "writes"},
            .bar = range_bar(colors, double(largest)),
            .note = {std::string(kCompositionNames[kind]) + "-composition: how strongly the row head's " +
                     kReadBy[kind] + " read the column head's output, ‖A B‖ ÷ (‖A‖ ‖B‖). Random matrices: " +
                     number(of.random, 3) + "."},
            .max_w = kMaxHeadCell,
            .max_h = kMaxHeadCell,
            .ratio = 1,
            .tip = [&s, &values](int reader, int writer) {
                const float v = values(reader, writer);
                return std::isnan(v) ? std::string()
                                     : composed_text(full_config(*s.model()), reader, writer, v) +
                                           ". Click to select the reader.";
            }};
}

void draw_composition(Scene& s, Rect area, const Composition& of) {
    MatrixView view = composition_matrix(s, of);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    if (!s.ui.on_page()) s.of<CircuitsState>().pointed = answer.hovered;
    s.ui.fill(l.grid.view, s.ui.colors->bg0);
    draw_matrix_view(s, l, view);
    name_blocks(s, l.grid);
    draw_chosen(s, l.grid);
    if (!answer.pressed) return;
    const AttentionHead reader = full_config(*s.model()).head_at(answer.hovered->first);
    s.select(reader.block, reader.head);
    s.leave_text();
}

/// The job that composes the open model's heads, or null.
const Job<CompositionSweep>* composing(const Scene& s) {
    const auto* job = s.answer->job<CompositionSweep>();
    return job && s.model() == job->work().model.get() ? job : nullptr;
}

/// Draws how many pairs are composed while they are, above what is known.
void draw_composing(Scene& s, Rect& rest) {
    constexpr float kProgress = 320, kBar = 6;
    const auto* job = composing(s);
    if (!job || job->ended() || s.ui.on_page()) return;
    const CompositionSweep::Found found = job->found();
    Rect area = take_top(rest, size::row + kBar, gap::medium);
    area.w = std::min(area.w, kProgress);
    write(s.ui, take_top(area, size::row), kCaption, s.ui.colors->t2,
          "Composing heads: " + std::to_string(found.done) + " of " + std::to_string(found.steps) +
              " pairs of layers");
    s.ui.name("circuits/composing", area);
    s.ui.bar(take_top(area, kBar), float(found.done) / float(std::max(1, found.steps)), s.ui.colors->accent);
}

}  // namespace

std::shared_ptr<const Composition> composition_found(const Scene& s) {
    if (const auto* found = s.found<CompositionRequest>())
        return {std::shared_ptr<const void>(), &found->answer};  // which outlives the frame
    const auto* job = composing(s);
    return job ? job->found().composition : nullptr;
}

void draw_circuits(Scene& s, Rect area) {
    constexpr float kRoomy = 1250, kMapShare = 0.455f, kGraphShare = 0.57f, kWide = 1200;
    Rect rest = area;
    if (s.ui.on_page()) {
        take_top(rest, gap::medium);
    } else {
        Toolbar bar = view_toolbar(s.ui, rest);
        bar.labels = bar.rest().w > kRoomy;
        choose_circuits(s, bar);
    }
    rest = inset(rest, size::center_pad, gap::medium);
    const bool graph = s.of<CircuitsState>().graph;
    Rect map = take_left(rest, rest.w * (graph && rest.w > kWide ? kGraphShare : kMapShare), gap::wide);
    draw_composing(s, map);
    const auto found = composition_found(s);
    if (found && !found->refusal.empty())
        s.ui.text.draw_wrapped(map.x, map.y + gap::wide, map.w, kBody, s.ui.colors->t2, found->refusal);
    else if (found)
        (graph ? draw_circuits_graph : draw_composition)(s, map, *found);
    draw_circuits_side(s, rest);
}

namespace {

std::vector<Question> ask_circuits(const Scene& s) {
    const AttentionHead head = chosen_head(s);
    std::vector<Question> out{CircuitsRequest{head.block, head.head, s.of<CircuitsState>().tokens}};
    if (s.ui.on_page())
        out.emplace_back(CompositionRequest{Patience::long_wait});
    else if (composes_within(full_config(*s.model()), Patience::some_seconds))
        out.emplace_back(CompositionRequest{});
    return out;
}

std::vector<Command> circuits_commands() {
    return {opens_view("circuits",
                       number_row({"circuits strongest", "Circuits: strongest compositions",
                                   "number of compositions in the graph: circuits strongest 40"},
                                  kLeastComposed, kMaxComposed, of_state(&CircuitsState::strongest)))};
}

std::vector<NumberTable> circuits_numbers(const Scene& s) {
    std::vector<NumberTable> out;
    if (const auto found = composition_found(s); found && found->refusal.empty())
        out = composition_numbers(*found, full_config(*s.model()));
    if (const auto* found = s.found<CircuitsRequest>()) {
        for (NumberTable& table :
             circuit_numbers(found->answer, *s.model(), {found->asked.block, found->asked.head})) {
            table.beside = !out.empty();
            out.push_back(std::move(table));
        }
    }
    return out;
}

std::vector<JobRequest> compose_in_background(const Scene& s, bool shown) {
    if (!shown || composes_within(full_config(*s.model()), Patience::some_seconds)) return {};
    return {CompositionSweep::Request{}};
}

}  // namespace

View circuits_view() {
    return {.key = "circuits",
            .name = "Circuits",
            .answers = ViewGroup::model,
            .synonyms = "QK, OV, composition, induction circuit",
            .letter = 'H',
            .draw = draw_circuits,
            .missing = no_weights,
            .shows = View::Shows::model,
            .ask = ask_circuits,
            .page_w = 1280,
            .page_h = 800,
            .panels = View::Panels::none,
            .least_high = 260,
            .jobs = compose_in_background,
            .of_model = true,
            .numbers = circuits_numbers,
            .visit = visit_state<CircuitsState>,
            .commands = circuits_commands};
}

}  // namespace headlight
