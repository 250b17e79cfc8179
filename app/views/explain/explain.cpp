#include "views/explain/explain.h"

#include "analysis/attention/head_tags.h"
#include "parts/head_tags.h"
#include "parts/metric.h"
#include "session/commands/command_rows.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kMaxEdgesFrom = 100;

/// Returns what share of the metric a run keeps.
float kept_share(const Explanation& of, const MetricValues& v) {
    return of.metric.kind == MetricKind::difference ? v.value / of.clean.value
                                                    : v.probability / of.clean.probability;
}

/// The circuit alone keeps most of the metric; the other heads alone lose most of it.
bool keeps_enough(const Explanation& of) { return kept_share(of, of.only) >= 0.9f; }
bool others_lose(const Explanation& of) { return kept_share(of, of.without) <= 0.5f; }

/// "Five of 32 heads find ball."
std::string claim(const Scene& s, const Explanation& of) {
    static constexpr const char* kCounts[] = {"No",   "One", "Two",   "Three", "Four",
                                              "Five", "Six", "Seven", "Eight"};
    const size_t heads = of.heads.size();
    const bool found = of.checked() && keeps_enough(of) && others_lose(of);
    const std::string count = heads < std::size(kCounts) ? kCounts[heads] : std::to_string(heads);
    const std::string verb = found        ? heads == 1 ? "finds " : "find "
                             : heads == 1 ? "matters most for "
                                          : "matter most for ";
    return count + " of " + std::to_string(s.model()->config.head_count()) + " heads " + verb +
           answer_name(s, of) + ".";
}

/// " Alone they keep it at 99.98 %; without them it falls to 5.7 %."; "" until it is measured.
std::string check_text(const Explanation& of) {
    if (!of.checked()) return "";
    const bool one = of.heads.size() == 1, difference = of.metric.kind == MetricKind::difference;
    const auto text = [&](const MetricValues& v) {
        return difference ? number(v.value, 2) : probability_text(v.probability);
    };
    const bool enough = keeps_enough(of), lose = others_lose(of);
    std::string out = std::string(one ? " Alone it " : " Alone they ") +
                      (enough ? one ? "keeps " : "keep "
                       : one  ? "brings "
                              : "bring ") +
                      (difference ? "the difference " : "it ") + (enough ? "at " : "to ") + text(of.only) +
                      (enough ? "" : " of " + text(of.clean) + ", so other heads are needed too");
    out += std::string(one ? "; without it " : "; without them ") +
           (difference ? "the difference "
            : one      ? "the answer "
                       : "it ") +
           (lose ? "falls to " : "is still ") + text(of.without) +
           (lose ? "" : ", so other heads can do the same work");
    return out + ".";
}

std::string running_stage(const Explanation& of) {
    for (const Explanation::Stage& stage : of.stages)
        if (!stage.ended)
            return std::string(stage.name) + ": " + std::to_string(stage.done) +
                   (stage.count ? " of " + std::to_string(stage.count) : "");
    return "";
}

/// Draws the strongest path in words, how much the circuit explains, and in a high window what an edge is.
void draw_heading(Scene& s, Rect& rest, const Explanation& of, bool low) {
    constexpr float kHeadline = 30, kLine = 22;
    Ui& ui = s.ui;
    const std::string& path = s.of<ExplainState>().told.path;
    if (!path.empty()) {
        ui.name("explain/headline", rest);
        const bool fits = ui.text.width(kTitle, path) <= rest.w;
        const float high =
            ui.text.draw_wrapped(rest.x, rest.y, rest.w, fits ? kTitle : kBody, ui.colors->t1, path);
        take_top(rest, std::max(high, kHeadline - gap::tight), gap::tight);
    }
    const std::string text = of.heads.empty() ? running_stage(of) : claim(s, of) + check_text(of);
    const float high = ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, ui.colors->t2, text);
    take_top(rest, std::max(high, kLine), gap::tight);
    if (const std::string why = why_explained_there(s); !why.empty())
        write(ui, take_top(rest, kLine), kCaption, ui.colors->t2, why);
    if (low) return;
    const std::string edge = "Edge: drop of " + metric_label(*s.model(), of.metric) +
                             " when only that path is cut",
                      word = "; line under a word: when it is left out";
    write(ui, take_top(rest, kLine, gap::tight), kCaption, ui.colors->t3,
          first_that_fits(
              ui, kCaption,
              {edge + word + ". All values are measured, not estimated.", edge + word + ".", edge + "."},
              rest.w));
}

/// "Edges from [—o——] 1.2 logits".
void draw_threshold(Scene& s, Rect line, const Explanation& of) {
    constexpr float kName = 80, kSlider = 160;
    auto& state = s.of<ExplainState>();
    float largest = of.edges_from;
    for (const PathEdge& edge : of.edges) largest = std::max(largest, std::abs(edge.effect));
    caption(s.ui, take_left(line, kName), "Edges from");
    const Rect slider = take_left(line, kSlider, gap::medium);
    const float now = edges_from(s, of);
    if (const auto place = s.ui.slider("explain/from", slider, std::clamp(now / largest, 0.0f, 1.0f)))
        state.edges_from = std::max(0.1f, std::round(*place * largest * 10) / 10);
    write(s.ui, line, kCaption, s.ui.colors->t2,
          number(now, 1) + " logits.  Dashed: weaker paths into the heads shown.");
}

}  // namespace

void ExplainState::visit(FieldVisitor& v) {
    v.number("explain_from", edges_from, 0, kMaxEdgesFrom);
    v.integer("explain_step", step, kAllSteps, kMaxSteps - 1);
    nlohmann::json names = nlohmann::json::array();
    for (const ExplanationStep& one : told.steps) names.push_back(one.name);
    v.report("explain_steps", names);
    v.report("explain_path", told.path);
}

ExplanationRequest explanation_request(const Scene& s) {
    ExplanationRequest out;
    out.metric = s.session.document.metric.metric;
    return out;
}

ExplanationFound explanation_found(const Scene& s) {
    return s.sentence() ? measured(s, explanation_request(s)) : ExplanationFound{};
}

std::string probability_text(float probability) {
    const bool near_one = probability > 0.9949f && probability < 0.99995f;
    return near_one ? number(100 * probability, 2) + " %" : percent(probability);
}

float edges_from(const Scene& s, const Explanation& of) {
    const float own = s.of<ExplainState>().edges_from;
    return own > 0 ? own : of.edges_from;
}

bool is_highlighted(const Scene& s, const PathEdge& edge) {
    const auto& state = s.of<ExplainState>();
    const auto& chosen = state.held ? state.held : state.pointed;
    return chosen && chosen->same_path(edge);
}

std::string answer_name(const Scene& s, const Explanation& of) {
    const auto name = [&](int id) { return prediction_label(*s.model(), id); };
    return of.metric.kind == MetricKind::difference ? name(of.metric.a) + " − " + name(of.metric.b)
                                                    : name(of.metric.a);
}

std::string edge_name(const Scene& s, const Explanation& of, const PathEdge& edge) {
    const ModelConfig& c = s.model()->config;
    const std::string from = edge.token >= 0 ? token_at(s.sentence()->key_labels(edge.to.block), edge.token)
                                             : head_name(c, edge.from);
    return from + " → " + (edge.to_answer ? answer_name(s, of) : head_name(c, edge.to));
}

const PathEdge* shown_edge(const Scene& s, const Explanation& of) {
    for (const PathEdge& edge : of.edges)
        if (is_highlighted(s, edge)) return &edge;
    for (const PathEdge& edge : of.edges)
        if (edge.token < 0 && !edge.to_answer) return &edge;
    return of.edges.empty() ? nullptr : &of.edges.front();
}

const ExplanationStep* shown_step(const Scene& s) {
    const auto& state = s.of<ExplainState>();
    const bool known = state.step >= 0 && state.step < isize(state.told.steps);
    return known ? &state.told.steps[size_t(state.step)] : nullptr;
}

namespace {

/// Puts the circuit into words, again where more of it or of its heads is known.
void tell(Scene& s, const std::shared_ptr<const Explanation>& of) {
    auto& told = s.of<ExplainState>().told;
    std::string tags;
    for (const AttentionHead head : of->heads)
        for (const HeadTag& tag : tags_of(s, head))
            tags += head_name(s.model()->config, head) + tag.row->word;
    if (told.of == of && told.tags == tags) return;
    const TagsOf of_head = [&](AttentionHead head) { return tags_of(s, head); };
    const Trace& trace = *s.sentence()->trace;
    told = {of, tags, explanation_steps(*of, trace, of_head), strongest_path_text(*of, trace, of_head)};
}

void draw_explain(Scene& s, Rect area) {
    if (!s.sentence()) return;
    Rect rest = inset(area, size::center_pad, gap::small);
    const ExplanationFound found = explanation_found(s);
    if (!found.refusal.empty()) {
        s.ui.text.draw_wrapped(rest.x, rest.y + gap::wide, rest.w, kBody, s.ui.colors->t2, found.refusal);
        return;
    }
    if (!found.explanation) {
        write(s.ui, take_top(rest, size::row), kBody, s.ui.colors->t2, "Measuring…");
        return;
    }
    constexpr float kLow = 600, kRoomForSteps = 380, kMinWide = 420;
    const Explanation& of = *found.explanation;
    if (rest.w < kMinWide) {
        s.ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, s.ui.colors->t2,
                               "Too little room for this view: enlarge the window, or choose a smaller text "
                               "size (Ctrl+K).");
        return;
    }
    tell(s, found.explanation);
    play_steps(s);
    draw_heading(s, rest, of, area.h < kLow);
    const bool controls = !s.ui.on_page() && !s.ui.without_toolbars;
    const bool tall = area.h >= kRoomForSteps;
    if (tall) draw_explain_steps(s, rest);
    if (controls) draw_threshold(s, take_bottom(rest, size::row, gap::tight), of);
    if (controls && tall && !s.of<InspectorState>().open)
        draw_path_strip(s, take_bottom(rest, size::row, gap::tight), of);
    draw_explanation(s, rest, of);
}

std::vector<Question> ask_explain(const Scene& s) {
    if (!s.sentence() || !s.ui.on_page()) return {};
    return {explanation_request(s), RandomStatisticsRequest{}};
}

std::vector<JobRequest> explain_in_background(const Scene& s, bool shown) {
    if (!shown || !s.sentence()) return {};
    return {Measuring<ExplanationRequest>::Request{explanation_request(s), s.of<ExplainState>().measures}};
}

std::vector<NumberTable> explain_numbers(const Scene& s) {
    const ExplanationFound found = explanation_found(s);
    if (!found.explanation) return {};
    return explanation_numbers(*found.explanation, *s.sentence()->trace);
}

std::string not_explained(const Scene& s) { return explanation_found(s).refusal; }

/// The arrows walk through the steps only where they are shown.
const char* walks_steps(const CommandContext& c) {
    const bool shown = c.model() && shown_view(c.session, *c.model()).key == std::string("explain") &&
                       !behind_sheet(c) && !c.session.of<ExplainState>().told.steps.empty();
    return shown ? nullptr : "";
}

void step_by(CommandContext& c, int by) {
    auto& state = c.session.of<ExplainState>();
    const int last = isize(state.told.steps) - 1;
    state.step = std::clamp(state.step + by, ExplainState::kAllSteps, last);
    state.plays = false;
}

std::vector<Command> explain_commands() {
    const char* walk = "in Explain this: previous or next step";
    return {opens_view("explain", number_row({"explain from", "Explain this: weakest solid path",
                                              "the weakest path drawn solid, in logits: explain from 1.5"},
                                             0.0f, kMaxEdgesFrom, of_state(&ExplainState::edges_from))),
            opens_view("explain",
                       choice_row({"explain step", "Explain this: step",
                                   "one step of the circuit, the others dimmed; or all"},
                                  {{"all", ExplainState::kAllSteps}, {"1", 0}, {"2", 1}, {"3", 2}, {"4", 3}},
                                  of_state(&ExplainState::step))),
            row(
                {"explain previous", "Explain this: previous step", walk, "←"},
                [](CommandContext& c) { step_by(c, -1); }, walks_steps),
            row(
                {"explain next", "Explain this: next step", walk, "→"},
                [](CommandContext& c) { step_by(c, 1); }, walks_steps),
            row(
                {"explain play", "Explain this: play", "show one step after the other"},
                [](CommandContext& c) {
                    auto& state = c.session.of<ExplainState>();
                    state.plays = !state.plays;
                    state.step = ExplainState::kAllSteps;
                    state.next_step = 0;
                },
                walks_steps)};
}

const char* predicts_no_token(const Model& model) {
    return model.has_logits() ? no_weights(model) : "This model predicts no tokens to explain.";
}

}  // namespace

View explain_view() {
    return {.key = "explain",
            .name = "Explain this",
            .answers = ViewGroup::explain,
            .synonyms = "circuit, path patching, attribution graph, neurons",
            .letter = 'W',
            .draw = draw_explain,
            .offered = reads_text,
            .missing = predicts_no_token,
            .shows = View::Shows::model,
            .ask = ask_explain,
            .beside = {.inspect = always<draw_explain_inspector>},
            .page_w = 1000,
            .page_h = 700,
            .least_high = 200,
            .jobs = explain_in_background,
            .numbers = explain_numbers,
            .silent = not_explained,
            .visit = visit_state<ExplainState>,
            .commands = explain_commands};
}

}  // namespace headlight
