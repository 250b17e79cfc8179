#include "analysis/patching/explanation_steps.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>

#include "base/cast.h"
#include "base/listed.h"
#include "base/quoted.h"

namespace headlight {

namespace {

using HeadList = std::vector<AttentionHead>;

/// Where a head looks from the row that predicts.
struct Look {
    int key = -1;  // −1: it has no such row
    float weight = 0;
};

/// "look at the previous token", "looks at …", from "Looks at the previous token.".
std::string doing(const HeadTagRow& row, bool several) {
    std::string out = row.sentence;
    out.pop_back();
    out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
    if (!several) return out;
    const size_t end = out.find(' ');
    if (out.substr(0, end).ends_with("ies")) return out.replace(end - 3, 3, "y");
    return out.erase(end - 1, 1);
}

class Teller {
public:
    Teller(const Explanation& e, const Trace& clean, const TagsOf& tags)
        : e_(e), clean_(clean), config_(clean.config()), tags_(tags) {
        for (int stack = 0; stack < isize(clean.request.inputs); ++stack)
            labels_.push_back(token_labels(clean, stack));
        find_marks();
    }

    std::vector<ExplanationStep> steps() const {
        if (e_.heads.empty()) return {};
        return finders_.empty() ? by_depth() : mark_find_copy();
    }

    std::string strongest_path() const {
        if (!finders_.empty()) return marked_path();
        const PathEdge* strongest = nullptr;  // the edges are sorted
        for (const PathEdge& edge : e_.edges)
            if (edge.token < 0 && !edge.to_answer && edge.effect > 0 && !strongest) strongest = &edge;
        if (strongest) return path_of_two(*strongest);
        for (const PathEdge& edge : e_.edges)
            if (edge.to_answer && edge.effect > 0)
                return name(edge.from) + " " + looks(edge.from) + " and raises " + quoted_answer() + ".";
        return "";
    }

private:
    bool has_tag(AttentionHead head, std::string_view word) const {
        const auto tags = tags_(head);
        return std::any_of(tags.begin(), tags.end(), [&](const HeadTag& t) { return t.row->word == word; });
    }

    /// Finds the heads that hand each word the one before it, and those whose keys read that.
    void find_marks() {
        for (const PathEdge& edge : e_.edges) {
            const bool by_keys =
                edge.token < 0 && !edge.to_answer && edge.effect > 0 && edge.by_keys >= 0.5f * edge.effect;
            const bool within = !by_keys || config_.block(edge.to.block).key_stack == output();
            if (!by_keys || !within || !has_tag(edge.from, "previous") || !(e_.direct[edge.to] > 0)) continue;
            if (!mark_) mark_ = edge;
            if (!contains(markers_, edge.from)) markers_.push_back(edge.from);
            if (!contains(finders_, edge.to)) finders_.push_back(edge.to);
        }
        std::sort(markers_.begin(), markers_.end());
        std::sort(finders_.begin(), finders_.end());
    }

    std::string name(AttentionHead head) const { return head_name(config_, head); }
    std::string names(const HeadList& heads) const {
        std::vector<std::string> out;
        for (const AttentionHead head : heads) out.push_back(name(head));
        return listed(out, "and");
    }
    /// "Head 0.0", "heads 1.0 and 1.1".
    std::string subject(const HeadList& heads, bool first = true) const {
        return std::string(first ? "H" : "h") + (heads.size() == 1 ? "ead " : "eads ") + names(heads);
    }

    int output() const { return isize(clean_.request.inputs) - 1; }
    int position() const { return e_.metric.position; }
    const std::string& label(int stack, int token) const { return labels_[size_t(stack)][size_t(token)]; }
    std::string place(int stack, int token) const {
        return label(stack, token) + " " + std::to_string(token);
    }
    std::string quoted(int stack, int token) const { return "“" + label(stack, token) + "”"; }

    std::string answer() const {
        const auto of = [&](int id) { return prediction_label(*clean_.model, id); };
        return e_.metric.kind == MetricKind::difference ? of(e_.metric.a) + " over " + of(e_.metric.b)
                                                        : of(e_.metric.a);
    }
    std::string quoted_answer() const {
        return e_.metric.kind == MetricKind::difference ? answer() : "“" + answer() + "”";
    }

    Look look(AttentionHead head) const {
        if (config_.block(head.block).stack != output() || position() >= clean_.query_count(head.block))
            return {};
        const Matrix row = clean_.pattern_rows(head.block, head.head, position(), 1);
        Index key = 0;
        const float weight = row.row(0).maxCoeff(&key);
        return {narrow<int>(key), weight};
    }
    /// "looks at “ball”"; "reads “red”" of a head without a row at the prediction.
    std::string looks(AttentionHead head) const {
        const int stack = config_.block(head.block).key_stack;
        const Look at = look(head);
        if (at.key >= 0) return "looks at " + quoted(stack, at.key);
        for (const PathEdge& edge : e_.edges)
            if (edge.token >= 0 && edge.to == head) return "reads " + quoted(stack, edge.token);
        return "reads the text";
    }

    /// The key on which most of some heads land, those of the largest weight first.
    std::pair<int, std::vector<float>> landed(const HeadList& heads) const {
        std::map<int, float> sums;
        for (const AttentionHead head : heads)
            if (const Look at = look(head); at.key >= 0) sums[at.key] += at.weight;
        if (sums.empty()) return {-1, {}};
        const int key = std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
                            return a.second < b.second;
                        })->first;
        std::vector<float> weights;
        for (const AttentionHead head : heads)
            weights.push_back(clean_.pattern_rows(head.block, head.head, position(), 1)(0, key));
        return {key, weights};
    }

    /// Whether the word before a key is the one that the prediction stands at, and the key is the answer.
    bool follows_same(int key) const {
        const std::vector<int>& ids = clean_.output().ids;
        return key > 0 && ids[size_t(key - 1)] == ids[size_t(position())];
    }
    bool is_answer(int key) const { return clean_.output().ids[size_t(key)] == e_.metric.a; }

    std::string marked_path() const {
        const int stack = output(), key = look(mark_->to).key;
        if (key < 1) return path_of_two(*mark_);
        const std::string found = follows_same(key) ? "finds " + quoted(stack, key - 1) + " there"
                                                    : "looks there from " + quoted(stack, position());
        return name(mark_->from) + " hands " + quoted(stack, key) + " the word before it; " +
               name(mark_->to) + " " + found + " and " + (is_answer(key) ? "copies " : "raises ") +
               quoted_answer() + ".";
    }

    std::string path_of_two(const PathEdge& edge) const {
        const auto tags = tags_(edge.from);
        const std::string does = tags.empty() ? looks(edge.from) : doing(*tags.front().row, false);
        return name(edge.from) + " " + does + " and passes what it finds to " + name(edge.to) + ", which " +
               looks(edge.to) + " and raises " + quoted_answer() + ".";
    }

    void add_words(ExplanationStep& step) const {
        for (const PathEdge& edge : e_.edges) {
            if (edge.token < 0 || !e_.is_solid(edge) || !step.holds(edge.to)) continue;
            const ExplanationStep::Word word{config_.block(edge.to.block).key_stack, edge.token};
            if (!contains(step.words, word)) step.words.push_back(word);
        }
    }

    std::vector<ExplanationStep> mark_find_copy() const {
        const auto [key, weights] = landed(finders_);
        return {mark_step(key), find_step(key, weights), copy_step(key >= 0 && is_answer(key))};
    }

    ExplanationStep mark_step(int key) const {
        const int stack = output();
        ExplanationStep out{"Mark", "", markers_, {}, false};
        out.text =
            subject(markers_) + (markers_.size() == 1 ? " hands" : " hand") + " each word the one before it";
        out.text +=
            key < 1 ? "."
                    : ": " + place(stack, key) + " now knows that " + label(stack, key - 1) + " came first.";
        add_words(out);
        return out;
    }

    ExplanationStep find_step(int key, const std::vector<float>& weights) const {
        const int stack = output();
        const bool one = finders_.size() == 1;
        ExplanationStep out{"Find", "", finders_, {{stack, position()}}, false};
        out.text = "From " + place(stack, position()) + ", " + subject(finders_, false) +
                   (one ? " looks" : " look") + " for that mark";
        if (key >= 0) {
            std::vector<std::string> values;
            for (const float weight : weights) values.push_back(decimals(double(weight), 3));
            out.text += std::string(one ? " and lands" : " and land") + " on " + place(stack, key) +
                        " with weight " + listed(values, "and");
            out.words.push_back({stack, key});
        }
        out.text += ".";
        return out;
    }

    ExplanationStep copy_step(bool copies) const {
        ExplanationStep out{copies ? "Copy" : "Answer", "", {}, {}, true};
        HeadList others, against;
        for (const AttentionHead head : e_.heads)
            if (writes(head) && !contains(markers_, head)) {
                out.heads.push_back(head);
                if (!contains(finders_, head)) (e_.direct[head] > 0 ? others : against).push_back(head);
            }
        out.text = std::string(finders_.size() == 1 ? "It writes " : "They write ") + answer() +
                   " as the next word.";
        if (!others.empty())
            out.text += " " + subject(others) + (others.size() == 1 ? " supports it." : " support it.");
        if (!against.empty())
            out.text += " " + subject(against) + (against.size() == 1 ? " works" : " work") + " against it.";
        return out;
    }

    bool writes(AttentionHead head) const {
        return std::any_of(e_.edges.begin(), e_.edges.end(),
                           [&](const PathEdge& edge) { return edge.to_answer && edge.from == head; });
    }

    /// The longest chain of solid paths between heads that ends at each.
    std::map<AttentionHead, int> depths() const {
        std::map<AttentionHead, int> out;
        for (const AttentionHead head : e_.heads) {  // as a pass computes them
            out[head] = 0;
            for (const PathEdge& edge : e_.edges)
                if (edge.token < 0 && !edge.to_answer && edge.to == head && e_.is_solid(edge))
                    out[head] = std::max(out[head], out[edge.from] + 1);
        }
        return out;
    }

    std::vector<ExplanationStep> by_depth() const {
        constexpr int kSteps = 4;
        std::vector<ExplanationStep> out;
        const auto depth = depths();
        for (const AttentionHead head : e_.heads) {
            const size_t at = size_t(std::min(depth.at(head), kSteps - 1));
            if (out.size() <= at) out.resize(at + 1);
            out[at].heads.push_back(head);
        }
        std::erase_if(out, [](const ExplanationStep& step) { return step.heads.empty(); });
        for (size_t i = 0; i < out.size(); ++i) {
            out[i].writes = i + 1 == out.size();
            add_words(out[i]);
            out[i].name = depth_name(out, i);
            out[i].text = depth_text(out[i]);
        }
        return out;
    }

    /// Names a step by what most of its heads are tagged with, else by its place.
    std::string depth_name(const std::vector<ExplanationStep>& all, size_t i) const {
        static const std::map<std::string_view, const char*> kNames{{"previous", "Mark"},
                                                                    {"induction", "Find"},
                                                                    {"same token", "Spot the repeat"},
                                                                    {"name mover", "Copy"}};
        std::map<std::string_view, size_t> counts;
        for (const AttentionHead head : all[i].heads)
            for (const HeadTag& tag : tags_(head)) ++counts[tag.row->word];
        for (const auto& named : kNames) {
            const bool used = std::any_of(all.begin(), all.begin() + std::ptrdiff_t(i),
                                          [&](const ExplanationStep& s) { return s.name == named.second; });
            if (!used && 2 * counts[named.first] > all[i].heads.size()) return named.second;
        }
        return i + 1 == all.size() ? "Answer" : i == 0 ? "Read" : i == 1 ? "Pass on" : "Pass on again";
    }

    /// "Head 3.0 looks at earlier copies of the same token. They read …; …"
    std::string depth_text(const ExplanationStep& step) const {
        std::vector<std::pair<const HeadTagRow*, HeadList>> groups;
        for (const AttentionHead head : step.heads) {
            const auto tags = tags_(head);
            if (tags.empty()) continue;
            const auto same = std::find_if(groups.begin(), groups.end(),
                                           [&](const auto& g) { return g.first == tags.front().row; });
            if (same == groups.end())
                groups.push_back({tags.front().row, {head}});
            else
                same->second.push_back(head);
        }
        std::string out;
        for (const auto& [row, heads] : groups)
            out += subject(heads) + " " + doing(*row, heads.size() > 1) + ". ";
        const bool one = step.heads.size() == 1;
        const std::string who = groups.empty() ? subject(step.heads) : one ? "It" : "Together they";
        const bool several = !one;
        const std::string reads = words_read(step);
        if (!reads.empty()) out += who + (several ? " read " : " reads ") + reads;
        const HeadList to = step.writes ? HeadList{} : receivers(step);
        const std::string goes = step.writes ? (several ? "raise " : "raises ") + answer()
                                             : (several ? "pass it to " : "passes it to ") + names(to);
        if (!step.writes && to.empty()) return out + (reads.empty() ? "" : ".");
        return out + (reads.empty() ? who + " " : " and ") + goes + ".";
    }

    std::string words_read(const ExplanationStep& step) const {
        constexpr size_t kNamed = 3;
        std::vector<std::string> out;
        for (size_t i = 0; i < std::min(kNamed, step.words.size()); ++i)
            out.push_back(place(step.words[i].stack, step.words[i].token));
        return listed(out, "and");
    }

    HeadList receivers(const ExplanationStep& step) const {
        HeadList out;
        for (const PathEdge& edge : e_.edges)
            if (edge.token < 0 && !edge.to_answer && e_.is_solid(edge) && step.holds(edge.from) &&
                !contains(out, edge.to))
                out.push_back(edge.to);
        std::sort(out.begin(), out.end());
        return out;
    }

    const Explanation& e_;
    const Trace& clean_;
    const ModelConfig& config_;
    const TagsOf& tags_;
    std::vector<std::vector<std::string>> labels_;
    HeadList markers_, finders_;
    std::optional<PathEdge> mark_;  // the strongest path between a marker and a finder
};

}  // namespace

bool ExplanationStep::holds(AttentionHead head) const { return contains(heads, head); }

bool ExplanationStep::holds(const PathEdge& edge) const {
    return edge.to_answer ? writes && holds(edge.from) : holds(edge.to);
}

std::vector<ExplanationStep> explanation_steps(const Explanation& e, const Trace& clean, const TagsOf& tags) {
    return Teller(e, clean, tags).steps();
}

std::string strongest_path_text(const Explanation& e, const Trace& clean, const TagsOf& tags) {
    return e.heads.empty() ? "" : Teller(e, clean, tags).strongest_path();
}

}  // namespace headlight
