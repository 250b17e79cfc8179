#include "views/explain/explain.h"

#include "parts/metric.h"
#include "session/commands/command_rows.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kMaxEdgesFrom = 100;

/// True if the circuit alone keeps most of the metric, and the other heads alone do not.
bool suffices(const Explanation& of) {
    constexpr float kKept = 0.9f, kLost = 0.5f;
    const bool difference = of.metric.kind == MetricKind::difference;
    const auto share = [&](const MetricValues& v) {
        return difference ? v.value / of.clean.value : v.probability / of.clean.probability;
    };
    return of.whole() && share(of.only) >= kKept && share(of.without) <= kLost;
}

/// "Six of 32 heads find ball."
std::string claim(const Scene& s, const Explanation& of) {
    static constexpr const char* kCounts[] = {"No",   "One", "Two",   "Three", "Four",
                                              "Five", "Six", "Seven", "Eight"};
    const size_t heads = of.heads.size();
    const std::string count = heads < std::size(kCounts) ? kCounts[heads] : std::to_string(heads);
    const std::string verb = suffices(of) ? heads == 1 ? "finds " : "find "
                             : heads == 1 ? "matters most for "
                                          : "matter most for ";
    return count + " of " + std::to_string(s.model()->config.head_count()) + " heads " + verb +
           answer_name(s, of) + ".";
}

/// " Alone they keep it at 99.98 %; without them it is 5.7 %."; "" until it is measured.
std::string check_text(const Explanation& of) {
    if (!of.whole()) return "";
    const bool one = of.heads.size() == 1, difference = of.metric.kind == MetricKind::difference;
    const auto text = [&](const MetricValues& v) {
        return difference ? number(v.value, 2) : probability_text(v.probability);
    };
    return std::string(one ? " Alone it keeps " : " Alone they keep ") +
           (difference ? "the difference at " + text(of.only) + " of " + text(of.clean)
                       : "it at " + text(of.only)) +
           (one ? "; without it the rest keeps " : "; without them it is ") + text(of.without) + "." +
           (suffices(of) ? ""
            : one        ? " It does not suffice."
                         : " They do not suffice.");
}

std::string running_stage(const Explanation& of) {
    for (const Explanation::Stage& stage : of.stages)
        if (!stage.ended)
            return std::string(stage.name) + ": " + std::to_string(stage.done) +
                   (stage.count ? " of " + std::to_string(stage.count) : "");
    return "";
}

void draw_heading(Scene& s, Rect& rest, const Explanation& of) {
    constexpr float kHeadline = 32, kNote = 26;
    const std::string check = check_text(of), all = claim(s, of) + check;
    const bool one_line = s.ui.text.width(kTitle, all) <= rest.w;
    write(s.ui, take_top(rest, kHeadline), kTitle, s.ui.colors->t1,
          of.heads.empty() ? running_stage(of)
          : one_line       ? all
                           : claim(s, of));
    if (!one_line && !check.empty())
        write(s.ui, take_top(rest, size::line, gap::small), kBody, s.ui.colors->t1, check.substr(1));
    const std::string edge = "Edge: drop of " + metric_label(*s.model(), of.metric) +
                             " when only that path is cut",
                      word = "; line under a word: when it is left out";
    write(s.ui, take_top(rest, kNote, gap::small), kCaption, s.ui.colors->t3,
          first_that_fits(
              s.ui, kCaption,
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

void ExplainState::visit(FieldVisitor& v) { v.number("explain_from", edges_from, 0, kMaxEdgesFrom); }

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

namespace {

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
    draw_heading(s, rest, *found.explanation);
    if (!s.ui.on_page() && !s.ui.without_toolbars)
        draw_threshold(s, take_bottom(rest, size::row, gap::small), *found.explanation);
    draw_explanation(s, rest, *found.explanation);
}

std::vector<Question> ask_explain(const Scene& s) {
    if (!s.sentence() || !s.ui.on_page()) return {};
    return {explanation_request(s)};
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

std::vector<Command> explain_commands() {
    return {opens_view("explain", number_row({"explain from", "Explain this: weakest solid path",
                                              "the weakest path drawn solid, in logits: explain from 1.5"},
                                             0.0f, kMaxEdgesFrom, of_state(&ExplainState::edges_from)))};
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
