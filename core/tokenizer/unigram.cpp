// Segments text by a unigram language model.
#include "tokenizer/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

Result<std::shared_ptr<const TokenModel>> Unigram::from_json(const Json& model, const std::string& name) {
    const auto vocab = model.find("vocab");
    if (vocab == model.end() || !vocab->is_array() || vocab->empty())
        return Error{name + " has no vocabulary; correct the file."};
    std::vector<std::string> spellings;
    std::vector<double> scores;
    for (const Json& entry : *vocab) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
            return Error{name + ": an entry of the vocabulary is not [token, score]; correct the file."};
        spellings.push_back(entry[0].get<std::string>());
        scores.push_back(entry[1].get<double>());
    }
    const auto last = std::ssize(spellings) - 1;
    TRY(const int64_t unknown, json_integer(model, or_null("unk_id"), -1, -1, last, name));
    TRY(const bool byte_fallback, json_boolean(model, "byte_fallback", false, name));
    const std::vector<bool> left_out(spellings.size(), false);
    TRY(Vocabulary listed, Vocabulary::from_list(std::move(spellings), name));
    return make(std::move(listed), std::move(scores), left_out, narrow<int>(unknown), byte_fallback, name);
}

Result<std::shared_ptr<const TokenModel>> Unigram::make(Vocabulary vocabulary, std::vector<double> scores,
                                                        const std::vector<bool>& left_out, int unknown,
                                                        bool byte_fallback, const std::string& name) {
    if (unknown < 0) return Error{name + " has no unk token; correct the file."};
    auto model = std::shared_ptr<Unigram>(new Unigram(std::move(vocabulary)));
    double lowest = std::numeric_limits<double>::infinity();
    for (int id = 0; id < isize(scores); ++id) {
        if (!std::isfinite(scores[id]))
            return Error{name + ": the score of a token is not a number; correct the file."};
        const auto i = id;
        if (left_out[id]) continue;
        lowest = std::min(lowest, scores[id]);
        if (!model->vocabulary_.spelling(i).empty() &&
            model->vocabulary_.id_of(model->vocabulary_.spelling(i)) == i)
            model->sorted_.push_back(i);
    }
    std::sort(model->sorted_.begin(), model->sorted_.end(),
              [&](int a, int b) { return model->vocabulary_.spelling(a) < model->vocabulary_.spelling(b); });
    model->scores_ = std::move(scores);
    model->unknown_ = unknown;
    model->unknown_score_ = (std::isfinite(lowest) ? lowest : 0.0) - 10;
    if (byte_fallback) model->byte_ids_ = model->vocabulary_.byte_tokens();
    return std::shared_ptr<const TokenModel>(std::move(model));
}

/// Returns the id of a piece that may match a text, or −1.
int Unigram::id_in_text(std::string_view spelling) const {
    const auto at =
        std::lower_bound(sorted_.begin(), sorted_.end(), spelling,
                         [&](int id, std::string_view s) { return vocabulary_.spelling(id) < s; });
    return at != sorted_.end() && vocabulary_.spelling(*at) == spelling ? *at : -1;
}

/// Names a run of unknown characters: a token spelled like it, else its bytes, else unknown.
void Unigram::name_unknown(std::string_view text, ModelToken run, std::vector<ModelToken>& out) const {
    run.text = text.substr(run.begin, run.end - run.begin);
    const int known = id_in_text(run.text);
    const auto missing = [&](char c) { return byte_ids_[as_byte(c)] < 0; };
    if (known < 0 && !byte_ids_.empty() && std::none_of(run.text.begin(), run.text.end(), missing)) {
        for (const char c : run.text) out.push_back({byte_ids_[as_byte(c)], run.begin, run.end});
        return;
    }
    if (known >= 0) run.id = known;
    out.push_back(std::move(run));
}

namespace {
/// Holds the best segmentation up to a position.
struct Arrival {
    double score = 0;
    int id = -1;
    size_t from = std::string_view::npos;
};

/// The best way's pieces, last first; unknown ones in a row are one.
std::vector<ModelToken> pieces_from_end(const std::vector<Arrival>& best, int unknown) {
    std::vector<ModelToken> out;
    for (size_t end = best.size() - 1; end > 0; end = best[end].from) {
        const Arrival& a = best[end];
        if (a.id == unknown && !out.empty() && out.back().id == unknown)
            out.back().begin = a.from;
        else
            out.push_back({a.id, a.from, end});
    }
    return out;
}

}  // namespace

std::vector<ModelToken> Unigram::encode(std::string_view text) const {
    std::vector<Arrival> best(text.size() + 1);
    const auto offer = [&](size_t from, size_t to, int id, double score) {
        if (best[to].from == std::string_view::npos || score > best[to].score) best[to] = {score, id, from};
    };
    for (size_t at = 0, length; at < text.size(); at += length) {
        length = decode_utf8(text, at).length;
        bool single = false;
        auto first = sorted_.begin(), last = sorted_.end();
        for (size_t depth = 0; at + depth < text.size() && first != last;
             ++depth) {  // pieces that agree with the text so far
            const auto byte = [&](int id) {
                const std::string& s = vocabulary_.spelling(id);
                return depth < s.size() ? as_byte(s[depth]) : -1;
            };
            const int wanted = as_byte(text[at + depth]);
            first = std::partition_point(first, last, [&](int id) { return byte(id) < wanted; });
            last = std::partition_point(first, last, [&](int id) { return byte(id) <= wanted; });
            if (first == last || vocabulary_.spelling(*first).size() != depth + 1) continue;
            offer(at, at + depth + 1, *first, best[at].score + scores_[*first]);
            single = single || depth + 1 == length;
        }
        if (!single) offer(at, at + length, unknown_, best[at].score + unknown_score_);
    }
    const std::vector<ModelToken> pieces = pieces_from_end(best, unknown_);
    std::vector<ModelToken> out;
    for (auto p = pieces.rbegin(); p != pieces.rend(); ++p) {
        if (p->id == unknown_)
            name_unknown(text, *p, out);
        else
            out.push_back(*p);
    }
    return out;
}

}  // namespace headlight
