// Names and values of words, the answer in sentences, locking and masking.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/cast.h"
#include "base/listed.h"
#include "base/quoted.h"
#include "model/interventions/change.h"
#include "parts/metric.h"
#include "views/influence/influence.h"

namespace headlight {

const char* side_of_word(const Scene& s, const ScoredWord& word) {
    if (s.sentence()->labels.size() < 2) return "";
    return word.part.stack == 0 ? "source" : "target";
}

std::string word_name(const Scene& s, const ScoredWord& word) {
    constexpr size_t kLongest = 40;
    const char* side = side_of_word(s, word);
    const std::string of = *side ? std::string(" of the ") + side : "";
    if (s.of<InfluenceState>().part == TextPart::token)
        return word.part.label + " " + std::to_string(word.part.tokens.first) + of;
    return "“" + shortened(word.part.label, kLongest) + "”" + of;
}

std::string method_title(const InfluenceMethodRow& method) {
    std::string out = method.name;
    out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
    return out;
}

const char* word_unit(const Scene& s) {
    constexpr const char* kUnits[] = {"word", "word", "sentence", "paragraph"};
    return row_of(kUnits, s.of<InfluenceState>().part);
}

std::optional<int> shown_word(const Scene& s, const ScoredWords& words) {
    const InfluenceState& state = s.of<InfluenceState>();
    if (state.word && *state.word < isize(words.all)) return state.word;
    if (state.locked)
        for (int i = 0; i < isize(words.all); ++i)
            if (words.all[i].part.stack == state.locked->stack &&
                words.all[i].part.tokens.first == state.locked->position)
                return i;
    if (words.order.empty() || std::isnan(words.shown(words.order.front()))) return std::nullopt;
    return words.order.front();
}

bool is_lit_word(const Scene& s, const ScoredWords& words, int word) {
    const InfluenceState& state = s.of<InfluenceState>();
    if (!s.ui.on_page()) return shown_word(s, words) == word;
    const ScoredPart& part = words.all[word].part;
    return state.locked && *state.locked == TokenPlace{part.stack, part.tokens.first};
}

namespace {

/// Masks the part as a key for later queries; for all queries if the model sees ahead.
Change mask_of(const Scene& s, const ScoredPart& part) {
    const int last = isize(s.sentence()->labels) - 1;
    const bool cross = part.stack < last;
    const int tokens = s.sentence()->trace->request.inputs[size_t(part.stack)].size();
    Change out;
    out.kind = ChangeKind::mask;
    out.blocks = cross ? Blocks::cross : Blocks::usual;
    out.query = cross || s.model()->config.can.fill_masks || part.tokens.end == tokens ? 0 : part.tokens.end;
    out.queries = kToEnd;
    out.key = part.tokens.first;
    out.keys = part.tokens.size();
    return out;
}

/// Returns the cell of the selected head whose key is the word, for other views to highlight.
std::optional<std::pair<int, int>> cell_of_word(const Scene& s, const ScoredWords& words,
                                                const ScoredWord& word) {
    const AttentionBlock block = s.model()->config.block(s.block());
    const TokenScores& known = words.ranks_by_second() ? words.second : words.first;
    if (!known.found || block.key_stack != word.part.stack || block.stack + 1 != isize(s.sentence()->labels))
        return std::nullopt;
    const std::pair cell{known.found->metric.position, word.part.tokens.first};
    return cell.first >= 0 && s.holds(cell) ? std::optional(cell) : std::nullopt;
}

}  // namespace

bool is_masked_word(const Scene& s, const ScoredPart& part) {
    const auto& changes = s.sentence()->intervention.changes;
    return !changes.empty() && contains(changes, mask_of(s, part));
}

void mask_word(Scene& s, const ScoredPart& part) {
    if (explains_written(s)) {  // keep the generated text
        const WrittenText& written = *s.sentence()->written;
        const int last = s.sentence()->step - 1;
        if (last >= 0 && isize(s.session.document.generation.forced) <= last)
            s.send("force", std::to_string(last) + "," + std::to_string(written.generation.tokens[last].id));
    }
    s.change(mask_of(s, part), explains_written(s));
}

void answer_word(Scene& s, const ScoredWords& words, int i, Rect r, const std::string& path) {
    if (s.ui.on_page()) return;
    const ScoredWord& word = words.all[i];
    auto& state = s.of<InfluenceState>();
    const Hit hit = s.ui.control(path, r);
    if (!hit.hovered) return;
    state.next_word = i;
    s.point_at(cell_of_word(s, words, word));
    std::string text = word_name(s, word);
    if (!std::isnan(word.first)) text += "  " + fine_number(word.first, 4);
    tooltip_without_inspector(s, path, hit, text);
    const TokenPlace place{word.part.stack, word.part.tokens.first};
    if (hit.clicked) state.locked = state.locked == place ? std::nullopt : std::optional(place);
    if (ImGui::IsMouseClicked(1)) mask_word(s, word.part);
}

std::string explained_value(const Scene& s, const MetricValues& values) {
    if (explains_written(s)) return number(double(values.value), 2);
    return metric_value(shown_metric(s).kind, values);
}

namespace {

bool says_percents(const Scene& s) { return !explains_written(s) && shows_percents(shown_metric(s).kind); }

/// "ball", "ball − car", "log p of the 4 generated tokens".
std::string what_moves(const Scene& s, const ScoredWords& words) {
    const Metric& metric = words.first.found->metric;
    return says_percents(s) && metric.a >= 0 ? prediction_label(*s.model(), metric.a) : explained_name(s);
}

/// Returns the change without a word: of a probability in points, else its score.
float moved_by(const Scene& s, const ScoredWords& words, const ScoredWord& word) {
    if (std::isnan(word.first)) return 0;
    if (!says_percents(s) || !word.left) return std::abs(word.first);
    return 100 * std::abs(words.first.found->before.probability - word.left->without.probability);
}

/// Returns the smallest change that the sentence names: 2 points, or a tenth of the largest.
float least_moved(const Scene& s, const ScoredWords& words) {
    constexpr float kPoints = 2, kShare = 0.1f;
    return says_percents(s) ? kPoints : kShare * words.first_range.largest();
}

std::string limit_text(const Scene& s, float least) {
    return says_percents(s) ? number(double(least), 0) + " points" : fine_number(double(least), 2);
}

std::string headline(const Scene& s, const ScoredWords& words) {
    const ScoredWord& top = words.all[words.order.front()];
    const std::string name = word_name(s, top);
    if (!top.left) {
        const std::string share = percent(double(words.shown(words.order.front()) / words.first.found->sum));
        return name + " counts most for " + explained_name(s) + ": " + share + " of it comes from there.";
    }
    const MetricValues &before = words.first.found->before, &without = top.left->without;
    const bool percents = says_percents(s),
               falls = percents ? without.probability <= before.probability : without.value <= before.value;
    const std::string from_to = explained_value(s, before) + " to " + explained_value(s, without) + ".";
    if (moved_by(s, words, top) < least_moved(s, words))
        return std::string("No ") + word_unit(s) + " moves " + what_moves(s, words) + " by more than " +
               limit_text(s, least_moved(s, words)) + "; " + name + " moves it most, from " + from_to;
    return name + " matters most: without it, " + what_moves(s, words) +
           (falls ? " falls from " : " rises from ") + from_to;
}

/// "Then ball 4 (91.5 %) and red 3 (94.7 %). No other word moves it by more than 2 points."
std::string next_words(const Scene& s, const ScoredWords& words) {
    constexpr int kNamed = 3;
    const float least = least_moved(s, words);
    std::vector<std::string> named;
    int more = 0;
    for (size_t i = 1; i < words.order.size(); ++i) {
        const ScoredWord& word = words.all[words.order[i]];
        if (moved_by(s, words, word) <= least) continue;
        if (isize(named) < kNamed)
            named.push_back(word_name(s, word) + " (" + explained_value(s, word.left->without) + ")");
        else
            ++more;
    }
    if (more > 0) named.push_back(std::to_string(more) + " more");
    return (named.empty() ? "" : "Then " + listed(named, "and") + ". ") + "No other " + word_unit(s) +
           " moves it by more than " + limit_text(s, least) + ".";
}

/// "Both methods put ball 4 first."
std::string agreement(const Scene& s, const ScoredWords& words) {
    if (!words.second_method || !words.second.whole || words.pale()) return "";
    int first = -1;
    for (int i = 0; i < isize(words.all); ++i)
        if (!std::isnan(words.all[i].second) &&
            (first < 0 || std::abs(words.all[i].second) > std::abs(words.all[first].second)))
            first = i;
    if (first < 0) return "";
    if (first == words.order.front())
        return " Both methods put " + word_name(s, words.all[first]) + " first.";
    return " " + method_title(*words.second_method) + " puts " + word_name(s, words.all[first]) + " first.";
}

/// Draws "9 of 17" with Cancel, or a button that starts again.
void draw_progress(Scene& s, Rect line, const ScoredWords& words) {
    constexpr float kButton = 120;
    Ui& ui = s.ui;
    const bool second = words.second_method && !words.second.ended();
    if (ui.on_page() || (words.first.ended() && !second)) return;
    if (!s.of<InfluenceState>().measures) {
        if (ui.button("influence/measure", band(take_right(line, kButton), size::button), "Measure"))
            s.send("influence measure", "on");
        return;
    }
    const TokenScores& now = words.first.ended() ? words.second : words.first;
    const InfluenceMethodRow& method = words.first.ended() ? *words.second_method : *words.first_method;
    const float link = ui.text.width(kCaption, "Cancel");
    if (ui.link("influence/cancel", line.right(), line.middle_y(), "Cancel"))
        s.send("influence measure", "off");
    take_right(line, link, gap::medium);
    const bool points = method.method == InfluenceMethod::integrated_gradients;
    const bool as_needed = points && s.of<InfluenceState>().points == kAsNeeded;
    const std::string of = now.steps == 0 ? "" : (as_needed ? " of ≤ " : " of ") + std::to_string(now.steps);
    const std::string count = std::to_string(now.done) + of, named = std::string(method.name) + ": " + count;
    write(ui, line, kCaption, ui.colors->t2,
          first_that_fits(ui, kCaption, {named + (points && !as_needed ? " points" : ""), named, count},
                          line.w),
          Flush::right);
}

}  // namespace

std::string words_title(const Scene& s) {
    if (!s.sentence() || !s.model()->has_logits()) return "Words that matter";
    const Metric metric = shown_metric(s);
    const bool of_token = shows_percents(metric.kind) && metric.a >= 0 && !explains_written(s);
    return "Why " + (of_token ? prediction_label(*s.model(), metric.a) : explained_name(s)) + "?";
}

float draw_answer(Scene& s, Rect area, const ScoredWords& words) {
    constexpr float kProgress = 330, kHeadline = 30;
    Ui& ui = s.ui;
    Rect line{area.x, area.y, area.w, kHeadline};
    const bool busy =
        !ui.on_page() && (!words.first.ended() || (words.second_method && !words.second.ended()));
    if (busy) draw_progress(s, take_right(line, std::min(kProgress, area.w / 3), gap::medium), words);
    if (!words.first.refusal.empty())
        return ui.text.draw_wrapped(line.x, line.y, line.w, kBody, ui.colors->t2, words.first.refusal);
    const bool known =
        words.first.found && !words.order.empty() && !std::isnan(words.shown(words.order.front()));
    if (!known) {
        write(ui, line, kTitle, ui.colors->t3, std::string("Leaving out each ") + word_unit(s));
        return kHeadline;
    }
    const std::string answer = (words.first.whole ? "" : "So far, ") + headline(s, words);
    ui.name("influence/answer", line);
    const float high = ui.text.draw_wrapped(line.x, line.y, line.w, kTitle, ui.colors->t1, answer);
    std::string more;
    if (words.first.whole && words.all[words.order.front()].left)
        more = next_words(s, words) + agreement(s, words);
    const std::string why = explains_written(s) ? "" : why_explained_there(s);
    if (!why.empty()) more += (more.empty() ? "" : " ") + why;
    if (more.empty()) return high;
    return high + gap::small +
           ui.text.draw_wrapped(area.x, area.y + high + gap::small, area.w, kBody, ui.colors->t2, more);
}

}  // namespace headlight
