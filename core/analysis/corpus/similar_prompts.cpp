#include "analysis/corpus/similar_prompts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_set>

#include "base/cast.h"

namespace headlight {

namespace {

constexpr int kMaxNames = 4, kWordsOfName = 8, kLeastWords = 2;
constexpr size_t kLeastLetters = 3;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_capital(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

std::string stripped(std::string piece) {
    if (piece.starts_with(' ')) piece.erase(0, 1);
    return piece;
}

/// Letters alone, at most the first of them a capital.
bool is_plain_word(const std::string& word) {
    return word.size() >= kLeastLetters && std::all_of(word.begin(), word.end(), is_letter) &&
           std::none_of(word.begin() + 1, word.end(), is_capital);
}

bool are_forms_of_one(const std::string& a, const std::string& b) {
    const auto lower = [](std::string s) {
        for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return s;
    };
    const std::string x = lower(a), y = lower(b);
    return x.starts_with(y) || y.starts_with(x);
}

class Slots {
public:
    Slots(const Trace& trace, const Metric& metric, ThreadPool& pool)
        : model_(*trace.model), tokenizer_(*trace.model->target_tokenizer()), metric_(metric), pool_(pool) {
        const std::vector<int>& ids = trace.output().ids;
        for (const int id : ids) {
            const std::string bytes = tokenizer_.bytes(id);
            const bool special = tokenizer_.decode({id}).empty() && bytes != " ";
            if (!special) ids_.push_back(id), pieces_.push_back(bytes);
        }
        for (int id = 0; id < model_.config.vocab; ++id) vocabulary_.insert(tokenizer_.bytes(id));
    }

    bool empty() const { return pieces_.empty(); }

    Result<PromptTemplate> made() {
        PromptTemplate out;
        for (const std::string& word : wanted()) {
            if (isize(named_) == kMaxNames) break;
            const std::vector<std::string> others = words_like(word);
            if (isize(others) < kLeastWords) continue;
            const std::string name(1, char('A' + isize(named_)));
            named_.push_back(word);
            out.fill[name] = others;
        }
        if (named_.empty())
            return Error{"No word of this sentence repeats, so no sentences like it are made."};
        for (size_t i = 0; i < pieces_.size(); ++i) {
            const int name = is_word_at(i) ? name_of(stripped(pieces_[i])) : -1;
            if (name < 0)
                out.text += pieces_[i];
            else
                out.text += std::string(pieces_[i][0] == ' ' ? " " : "") + "{" + char('A' + name) + "}";
        }
        if (out.text.starts_with(' ')) out.text.erase(0, 1);
        out.metric = metric_text();
        return out;
    }

private:
    /// Whether a piece is a whole word.
    bool is_word_at(size_t i) const {
        const bool begins = i == 0 || pieces_[i][0] == ' ',
                   ends = i + 1 == pieces_.size() || !is_letter(pieces_[i + 1][0]);
        return begins && ends && is_plain_word(stripped(pieces_[i]));
    }

    int count(const std::string& word) const {
        int out = 0;
        for (size_t i = 0; i < pieces_.size(); ++i) out += is_word_at(i) && stripped(pieces_[i]) == word;
        return out;
    }

    std::string word_of(int token) const { return token < 0 ? "" : stripped(tokenizer_.bytes(token)); }

    /// The words to replace, those that matter most first.
    std::vector<std::string> wanted() const {
        std::vector<std::string> out;
        const auto add = [&](const std::string& word, int least) {
            if (count(word) >= least && !contains(out, word)) out.push_back(word);
        };
        add(word_of(metric_.a), 1);
        if (metric_.kind == MetricKind::difference) add(word_of(metric_.b), 1);
        add(stripped(pieces_.back()), 2);
        for (size_t i = 0; i < pieces_.size(); ++i)
            if (const std::string word = stripped(pieces_[i]); is_word_at(i) && is_capital(word[0]))
                add(word, 2);
        return out;
    }

    int name_of(const std::string& word) const {
        const auto at = std::find(named_.begin(), named_.end(), word);
        return at == named_.end() ? -1 : narrow<int>(at - named_.begin());
    }

    /// The metric's tokens by their names; "": the most probable one.
    std::string metric_text() const {
        const int a = name_of(word_of(metric_.a)), b = name_of(word_of(metric_.b));
        const auto named = [](int name) { return std::string("{") + char('A' + name) + "}"; };
        if (metric_.kind == MetricKind::difference)
            return a >= 0 && b >= 0 ? named(a) + " - " + named(b) : metric_name(model_, metric_);
        return a >= 0 ? named(a) : "";
    }

    /// The token of a word, as it stands within the text if it does.
    int token_of(const std::string& word) const {
        int out = -1;
        for (size_t i = 0; i < pieces_.size(); ++i)
            if (stripped(pieces_[i]) == word && (out < 0 || pieces_[i][0] == ' ')) out = ids_[i];
        return out;
    }

    bool can_replace(const std::string& candidate, const std::string& word, bool spaced) const {
        const std::string other = stripped(candidate);
        const bool as_spaced = candidate.starts_with(' ') == spaced;
        if (!as_spaced || !is_plain_word(other) || is_capital(other[0]) != is_capital(word[0])) return false;
        if (!vocabulary_.count(other) || !vocabulary_.count(" " + other))
            return false;  // two tokens somewhere
        return std::none_of(pieces_.begin(), pieces_.end(),
                            [&](const std::string& p) { return are_forms_of_one(stripped(p), other); });
    }

    /// The nearest words by the cosine of their embeddings.
    std::vector<std::string> words_like(const std::string& word) const {
        const int own = token_of(word);
        const Linear& table = model_.weights.stacks.back().token_embedding;
        std::vector<float> to(size_t(table.in));
        table.read(own, 0, table.in, to.data());
        const Eigen::Map<const Eigen::VectorXf> x(to.data(), Index(to.size()));
        const bool spaced = tokenizer_.bytes(own).starts_with(' ');
        std::vector<float> cosines(size_t(model_.config.vocab), -2.0f);
        constexpr int kRows = 256;
        pool_.run((model_.config.vocab + kRows - 1) / kRows, [&](int tile) {
            Eigen::VectorXf row(table.in);
            for (int id = tile * kRows; id < std::min(model_.config.vocab, (tile + 1) * kRows); ++id) {
                if (id == own || !can_replace(tokenizer_.bytes(id), word, spaced)) continue;
                table.read(id, 0, table.in, row.data());
                cosines[size_t(id)] = row.dot(x) / std::max(1e-12f, row.norm() * x.norm());
            }
        });
        std::vector<int> ids;
        for (int id = 0; id < isize(cosines); ++id)
            if (cosines[size_t(id)] > -2) ids.push_back(id);
        std::sort(ids.begin(), ids.end(), [&](int a, int b) {
            return cosines[size_t(a)] != cosines[size_t(b)] ? cosines[size_t(a)] > cosines[size_t(b)] : a < b;
        });
        std::vector<std::string> out;
        for (const int id : ids) {
            const std::string other = stripped(tokenizer_.bytes(id));
            if (isize(out) == kWordsOfName) break;
            if (std::none_of(out.begin(), out.end(),
                             [&](const std::string& o) { return are_forms_of_one(o, other); }))
                out.push_back(other);
        }
        return out;
    }

    const Model& model_;
    const Tokenizer& tokenizer_;
    const Metric& metric_;
    ThreadPool& pool_;
    std::vector<int> ids_;
    std::vector<std::string> pieces_, named_;
    std::unordered_set<std::string> vocabulary_;
};

}  // namespace

Result<PromptTemplate> similar_prompts(const Trace& trace, const Metric& metric, ThreadPool& pool) {
    const Model& model = *trace.model;
    const ModelConfig& c = model.config;
    if (trace.request.inputs.size() != 1 || c.can.fill_masks || c.can.read_image || !model.tokenizer ||
        !trace.has_weights())
        return Error{"Sentences like this one are made for models that continue one text."};
    if (metric.position + 1 != trace.output().size())
        return Error{"Sentences like this one are made where the next word is explained."};
    Slots slots(trace, metric, pool);
    if (slots.empty()) return Error{"There is no text to make sentences like."};
    TRY(PromptTemplate out, slots.made());
    if (std::count(out.text.begin(), out.text.end(), '{') !=
        std::count(out.text.begin(), out.text.end(), '}'))
        return Error{"The sentence has braces of its own, so no sentences like it are made."};
    return out;
}

}  // namespace headlight
