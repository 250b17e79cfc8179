// Finds what a translator's choices depend on.
#include "learn/translation_choices.h"

#include <algorithm>

#include "analysis/comparison/word_alignment.h"
#include "analysis/comparison/words.h"
#include "analysis/prediction/predict.h"
#include "base/check.h"
#include "base/utf8.h"
#include "model/input.h"

namespace headlight {

namespace {

/// Removes spaces and lower-cases.
std::string bare_word(std::string label) {
    std::erase(label, ' ');
    return lower_case(std::move(label));
}

/// Returns the id of a word after a space, in lower case or capitalized, in the target's vocabulary; or −1.
int id_of_word(const Tokenizer& tokenizer, const std::string& word, bool capital) {
    std::string spelled = word;
    if (capital && spelled[0] >= 'a' && spelled[0] <= 'z') spelled[0] = char(spelled[0] - 'a' + 'A');
    return tokenizer.id_of("▁" + spelled);
}

/// Returns the probability of each id at a row of the decoder.
std::vector<float> probabilities_of(const Trace& trace, int row, const std::vector<int>& ids,
                                    ThreadPool& pool) {
    const Vector all = probabilities_at(trace, row, pool);
    std::vector<float> out;
    for (const int id : ids) out.push_back(id < 0 ? 0 : all[id]);
    return out;
}

/// Reruns the pass with source tokens masked from all others, in the encoder and from the decoder.
Result<std::shared_ptr<const Trace>> without_source(const Trace& trace, std::span<const int> keys,
                                                    ThreadPool& pool, const CancelFlag* cancel) {
    ForwardRequest request = trace.request;
    for (const int key : keys)
        for (const char* where : {"@encoder", "@cross"}) {
            TRY(Change change, parse_change(trace.config(), "mask:*>" + std::to_string(key) + where));
            request.intervention.changes.push_back(std::move(change));
        }
    return run_trace(trace.model, std::move(request), pool, cancel, &trace);
}

/// Returns the row of the first capitalized word after a row, as German nouns are; −1: none.
int noun_after(const Translated& t, int row) {
    const Tokenizer& tokenizer = *t.trace->model->target_tokenizer();
    for (int i = row + 1; i < isize(t.ids); ++i) {
        std::string piece = tokenizer.spelling(t.ids[i]);
        if (!piece.starts_with("▁")) continue;
        piece.erase(0, std::string("▁").size());
        if (!piece.empty() && lower_case(piece) != piece) return i;
    }
    return -1;
}

/// Returns all written pieces of the word that begins at a row.
std::string written_word(const Translated& t, int row) {
    const Tokenizer& tokenizer = *t.trace->model->target_tokenizer();
    std::vector<std::string> pieces;
    for (const int id : t.ids) pieces.push_back(tokenizer.spelling(id));
    const std::vector<int> words = word_numbers(pieces);
    std::string out;
    for (int i = row; i < isize(words) && words[i] == words[row]; ++i) out += t.written[i];
    return out;
}

}  // namespace

Result<Translated> translate(const std::shared_ptr<const Model>& model, const Sequence& source,
                             ThreadPool& pool, const CancelFlag* cancel) {
    ForwardRequest request{{source, {}}, {}};
    append_token(*model, request.inputs[1], model->config.start_id);
    const int max = std::min(model->config.context_of(model->config.decoder()) - 1, 2 * source.size() + 8);
    TRY(const Generation own, generate(model, request, {{}, max, {}}, pool, cancel));
    Translated out{
        own.trace, {}, model->target_tokenizer()->decode(own.ids()), token_labels(*own.trace, 0), {}};
    for (const GeneratedToken& token : own.tokens) {
        out.ids.push_back(token.id);
        out.written.push_back(prediction_label(*model, token.id));
    }
    return out;
}

Result<Translated> translate(const std::shared_ptr<const Model>& model, const std::string& text,
                             ThreadPool& pool, const CancelFlag* cancel) {
    TextInput typed;
    typed.text = text;
    TRY(const ModelInput input, encode_input(*model, typed));
    return translate(model, input.sequences[0], pool, cancel);
}

std::vector<WordChoice> word_choices(const Translated& t, const std::vector<std::string>& words,
                                     ThreadPool& pool) {
    const Tokenizer& tokenizer = *t.trace->model->target_tokenizer();
    std::vector<WordChoice> out;
    for (int row = 0; row < isize(t.ids); ++row)
        for (const bool capital : {false, true}) {
            std::vector<int> of;
            for (const std::string& word : words) of.push_back(id_of_word(tokenizer, word, capital));
            const auto found = std::find(of.begin(), of.end(), t.ids[row]);
            if (found == of.end()) continue;
            WordChoice choice{
                row, of, {}, probabilities_of(*t.trace, row, of, pool), int(found - of.begin())};
            for (const int id : of)
                choice.words.push_back(id < 0 ? "" : prediction_label(*t.trace->model, id));
            out.push_back(std::move(choice));
            break;
        }
    return out;
}

Status find_grounds(const Translated& t, ThreadPool& pool, const CancelFlag* cancel,
                    std::vector<WordChoice>& choices) {
    const int source = t.trace->request.inputs[0].size();
    for (int key = 0; !choices.empty() && key + 1 < source; ++key) {  // keeps the end token
        TRY(const auto hidden, without_source(*t.trace, {&key, 1}, pool, cancel));
        for (WordChoice& choice : choices) {
            const float p = probabilities_of(*hidden, choice.row, {choice.ids[choice.chosen]}, pool)[0];
            if (choice.rests_on >= 0 && p >= choice.without) continue;
            choice.rests_on = key;
            choice.without = p;
        }
    }
    return success();
}

Result<std::optional<HiddenNoun>> hide_noun(const Translated& t, const WordChoice& choice,
                                            const Matrix& cross, ThreadPool& pool, const CancelFlag* cancel) {
    const int noun = noun_after(t, choice.row);
    if (noun < 0) return std::optional<HiddenNoun>();
    Index key = 0;
    cross.row(noun).maxCoeff(&key);
    const Trace& trace = *t.trace;
    const std::vector<int> words = word_numbers(trace.request.inputs[0].tokens);
    HiddenNoun out{{}, written_word(t, noun), join_labels(t.source, words)[words[key]], {}, 0};
    for (int i = 0; i < isize(words); ++i)
        if (words[i] == words[key]) out.tokens.push_back(i);
    TRY(const auto hidden, without_source(trace, out.tokens, pool, cancel));
    out.probabilities = probabilities_of(*hidden, choice.row, choice.ids, pool);
    out.most_probable = predictions(*hidden, choice.row, 1, pool)[0].id;
    return std::optional(std::move(out));
}

Matrix alignment_pattern(const Trace& trace) {
    const int block = cross_block(trace.config(), trace.config().blocks() - 1);
    HEADLIGHT_CHECK(block >= 0);
    const int heads = trace.config().heads(block);
    Matrix out = trace.pattern(block, 0);
    for (int head = 1; head < heads; ++head) out += trace.pattern(block, head);
    return out / float(heads);
}

Vector most_looked_at(const Matrix& pattern) { return pattern.colwise().maxCoeff().transpose(); }

AttentionHead sharpest_head(const Trace& trace, AttentionKind kind) {
    AttentionHead best{-1, 0};
    float max = 0;
    for (int block = 0; block < trace.config().blocks(); ++block) {
        if (trace.config().block(block).kind != kind) continue;
        for (int head = 0; head < trace.config().heads(block); ++head) {
            const Matrix pattern = trace.pattern(block, head);
            const float itself = kind == AttentionKind::cross ? 0 : pattern.diagonal().mean(),
                        bits = alignment_bits(pattern) * (1 - itself);
            if (best.block >= 0 && bits <= max) continue;
            best = {block, head};
            max = bits;
        }
    }
    return best;
}

std::vector<int> tokens_of_word(const Trace& trace, int stack, const std::string& word) {
    const std::vector<int> of = word_numbers(trace.request.inputs[stack].tokens);
    const auto words = join_labels(token_labels(trace, stack), of);
    std::vector<int> out;
    for (int i = 0; i < isize(of); ++i)
        if (bare_word(words[of[i]]) == word && (out.empty() || of[i] == of[out[0]])) out.push_back(i);
    return out;
}

}  // namespace headlight
