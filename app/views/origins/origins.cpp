#include "views/origins/origins.h"

#include <algorithm>
#include <cmath>

#include "model/engine.h"
#include "parts/matrix_view.h"
#include "session/commands/command_rows.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kOriginNames = 96, kTotals = 60, kMaxCell = 56, kMaxOfFew = 88;
constexpr Index kFew = 12;      // parts, whose cells are larger
constexpr int kMaxListed = 64;  // tokens

std::optional<ScoreOriginsRequest> origins_request(const Scene& s) {
    const auto cell = s.shown_cell();
    if (!cell) return std::nullopt;
    return ScoreOriginsRequest{s.block(), s.head(), cell->first, cell->second};
}

std::vector<std::string> token_names(const std::vector<std::string>& labels) {
    std::vector<std::string> out;
    for (int i = 0; i < isize(labels); ++i) out.push_back(token_at(labels, i));
    return out;
}

void choose_cell(Scene& s, Toolbar& bar, std::pair<int, int> cell) {
    if (std::max(s.queries(), s.keys()) > kMaxListed) return;
    if (const int q = bar.choice("Query", "origins/query", token_names(s.query_labels()), cell.first); q >= 0)
        s.lock(std::pair{q, std::min(cell.second, s.keys() - 1)});
    if (const int k = bar.choice("Key", "origins/key", token_names(s.key_labels()), cell.second); k >= 0)
        s.lock(std::pair{cell.first, k});
}

void draw_origins_toolbar(Scene& s, Rect& rest) {
    constexpr float kRoomy = 1100;
    Toolbar bar = view_toolbar(s.ui, rest);
    bar.labels = bar.rest().w > kRoomy;
    bar.say(kCaption, s.ui.colors->t3,
            "of a score of head " + head_name(full_config(*s.model()), s.block(), s.head()), gap::wide);
    if (const auto cell = s.shown_cell()) choose_cell(s, bar, *cell);
    auto& count = s.of<OriginsState>().count;
    const auto now = std::find(kOriginCounts.begin(), kOriginCounts.end(), count) - kOriginCounts.begin();
    if (const int i =
            bar.choice("Show", "origins/count", {"8 strongest", "16 strongest", "32 strongest", "all parts"},
                       narrow<int>(now));
        i >= 0)
        count = kOriginCounts[i];
}

/// Writes two decimals: totals of cells that show two.
std::string total_text(double sum) { return (sum >= 0.005 ? "+" : "") + number(sum, 2); }

/// Writes the sum of each row and column.
void write_totals(Ui& ui, const Grid& g, const ScoreOrigins& o) {
    constexpr float kWide = 42, kHigh = 15;
    for (int r = 0; r < g.rows && g.h >= kHigh; ++r) {
        const Rect row = g.row(r);
        write(ui, {row.right() + gap::small, row.y, kTotals - gap::small, row.h}, kCaptionMono, ui.colors->t2,
              total_text(o.values.row(r).sum()));
    }
    for (int k = 0; k < g.columns && g.w >= kWide; ++k)
        write(ui, {g.x(k), g.view.bottom() + gap::tight, g.w, size::line}, kCaptionMono, ui.colors->t2,
              total_text(o.values.col(k).sum()), Flush::center);
}

/// Returns the head that wrote the key's part, else the query's.
const StreamPart* head_of(const ScoreOrigins& o, std::pair<int, int> cell) {
    for (const StreamPart* part : {&o.keys[cell.second], &o.queries[cell.first]})
        if (part->kind == StreamPart::Kind::head || part->kind == StreamPart::Kind::given_head) return part;
    return nullptr;
}

std::string origins_tip(const Scene& s, const ScoreOrigins& o, int row, int column) {
    const StreamPart* head = head_of(o, {row, column});
    const std::string text =
        origin_pair_name(s, o, row, column) + ": " + signed_number(o.values(row, column), 3);
    return head ? text + ". Click to open head " +
                      head_name(full_config(*s.model()), head->block, head->head) + "."
                : text;
}

MatrixView origins_matrix(const Scene& s, const ScoreOrigins& o) {
    const ModelConfig& c = full_config(*s.model());
    const Colormap& colors = signed_colormap(s.ui.colors->dark);
    const float reach = largest_size(o.values), cell = o.values.cols() <= kFew ? kMaxOfFew : kMaxCell;
    MatrixView out{
        .path = "origins/map",
        .cells = {signed_places_of(o.values, reach), colors, true},
        .rows = {[&](int i) { return stream_part_name(c, o.queries[i]); }, "query"},
        .columns = {[&](int i) { return stream_part_name(c, o.keys[i]); }, "key"},
        .bar = range_bar(colors, double(reach), true),
        .note =
            o.disentangled
                ? std::vector<std::string>{"Each cell: a query part · a key part; distance: Kr for "
                                           "queries, Qr for keys. Cells sum to the score.",
                                           "distance: Kr for queries, Qr for keys. Cells sum to the "
                                           "score.",
                                           "Cells sum to the score."}
                : std::vector<std::string>{"Each cell: a query part · a key part; cells sum to the score. "
                                           "Norm scales are held fixed.",
                                           "Each cell: a query part · a key part; cells sum to the score.",
                                           "Cells sum to the score."},
        .max_w = cell,
        .max_h = cell * 0.75f,
        .right = kTotals,
        .below = size::line,
        .number =
            [&](int row, int column) {
                const float v = o.values(row, column);
                return std::abs(v) >= 0.005f ? number(v, 2) : std::string();
            },
        .tip = [&](int row, int column) { return origins_tip(s, o, row, column); }};
    out.rows.room = kOriginNames;
    return out;
}

void draw_origins_map(Scene& s, Rect area, const ScoreOrigins& o) {
    MatrixView view = origins_matrix(s, o);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    if (!s.ui.on_page()) s.of<OriginsState>().pointed = answer.hovered;
    draw_matrix_view(s, l, view);
    write_totals(s.ui, l.grid, o);
    const StreamPart* head = answer.pressed ? head_of(o, *answer.hovered) : nullptr;
    if (!head) return;
    s.select(head->block, head->head);
    s.send("view head");
}

/// "red 16 → ball 4 in head 1.2".
void draw_origins_heading(Scene& s, Rect line, const ScoreOriginsRequest& asked) {
    Ui& ui = s.ui;
    const auto say = [&](Font font, ImU32 ink, const std::string& text) {
        take_left(line, write(ui, line, font, ink, text), gap::small);
    };
    say(kBodyMono, ui.colors->accent_text, token_at(s.query_labels(), asked.query));
    say(kBody, ui.colors->t3, "→");
    say(kBodyMono, ui.colors->t1, token_at(s.key_labels(), asked.key));
    say(kBody, ui.colors->t2, "in head " + head_name(full_config(*s.model()), asked.block, asked.head));
}

}  // namespace

std::string origin_pair_name(const Scene& s, const ScoreOrigins& o, int query, int key) {
    const ModelConfig& c = full_config(*s.model());
    return stream_part_name(c, o.queries[query]) + " × " + stream_part_name(c, o.keys[key]);
}

void draw_origins(Scene& s, Rect area) {
    constexpr float kSide = 320, kHeading = 28;
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, gap::medium);
    else
        draw_origins_toolbar(s, rest);
    rest = inset(rest, size::center_pad, gap::medium);
    const auto* found = s.found<ScoreOriginsRequest>();
    if (!found || found->asked.query >= s.queries() || found->asked.key >= s.keys()) {
        if (!s.shown_cell())
            caption(s.ui, take_top(rest, size::row), "Type a sentence: a score needs a query and a key.");
        return;
    }
    const ScoreOrigins shown = strongest_origins(found->answer, s.of<OriginsState>().count);
    const Rect side = take_right(rest, std::min(kSide, rest.w * 0.36f), gap::wide);
    draw_origins_heading(s, take_top(rest, kHeading, gap::small), found->asked);
    draw_origins_map(s, rest, shown);
    draw_origins_side(s, side, shown);
}

namespace {

std::vector<Question> ask_origins(const Scene& s) {
    const auto request = origins_request(s);
    return request ? std::vector<Question>{*request} : std::vector<Question>{};
}

std::vector<NumberTable> shown_origin_numbers(const Scene& s) {
    const auto* found = s.found<ScoreOriginsRequest>();
    return found ? origin_numbers(found->answer, full_config(*s.model())) : std::vector<NumberTable>{};
}

/// Parses "16,4"; without it takes the focused cell.
Status explain_score(CommandContext& c, const std::string& words) {
    const auto cell = words.empty() ? shown_cell(c.session, c.answer) : pair_of(words);
    const int block = c.answer->shown().block;
    const int queries = isize(c.sentence()->query_labels(block)),
              keys = isize(c.sentence()->key_labels(block));
    if (!cell || cell->first < 0 || cell->second < 0 || cell->first >= queries || cell->second >= keys)
        return Error{"The query is 0 … " + std::to_string(queries - 1) + " and the key 0 … " +
                     std::to_string(keys - 1) + "; write them as 16,4."};
    c.session.selection.locked = cell;
    return success();
}

const char* cannot_explain(const CommandContext& c) {
    if (const char* missing = needs_sentence(c)) return missing;
    return no_weights(*c.model());
}

std::vector<Command> origins_commands() {
    const CommandText text{"origins [QUERY,KEY]", "Break down a score",
                           "break down the focused cell's score by what wrote its query and its key"};
    return in_group("Heads and cells", {opens_view("origins", row(text, explain_score, cannot_explain))});
}

}  // namespace

View origins_view() {
    return {.key = "origins",
            .name = "Score breakdown",
            .answers = ViewGroup::explain,
            .synonyms = "where a score comes from, origins",
            .letter = 'J',
            .draw = draw_origins,
            .missing = no_weights,
            .shows = View::Shows::head,
            .ask = ask_origins,
            .page_w = 1200,
            .page_h = 760,
            .panels = View::Panels::none,
            .least_high = 260,
            .numbers = shown_origin_numbers,
            .visit = visit_state<OriginsState>,
            .commands = origins_commands};
}

}  // namespace headlight
