// Holds what the steps of "Follow a word" have in common: the open run around one query of one head.
#pragma once

#include "analysis/attention/block_chain.h"
#include "analysis/attention/steps.h"
#include "analysis/prediction/lens.h"
#include "learn/questions/parts.h"
#include "learn/station.h"

namespace headlight::learn {

struct FollowRun {
    const Trace& trace;
    ThreadPool& pool;
    const CancelFlag* cancel;
    AttentionBlock at;
    AttentionHead head;
    int query = 0, key = 0;               // key: with the most weight
    std::vector<std::string> words = {};  // labels of the query's stack
    std::vector<std::string> keys = {};   // … of the keys
    std::vector<int> shown = {};          // keys with a column, in the order of the text
    headlight::Steps steps = {};
    BlockChain chain = {};
    bool predicts = false;    // the block's stack predicts at the query
    Attribution answer = {};  // then: most probable tokens, and the first one's probability after each layer
    std::vector<std::string> says = {};  // after the embeddings and each layer: the most probable token
    Vector logits = {};                  // [vocab]

    const ModelConfig& config() const { return trace.config(); }
    bool crosses() const { return at.kind == AttentionKind::cross; }
    const std::string& word() const { return words[query]; }
    /// Returns the values of the stage; empty if the model has none.
    Vector stage(ChainStep step) const;
    std::string block() const;
    std::string label(int id) const;
};

Result<FollowRun> follow_run(const StationInput& input, ThreadPool& pool);

/// Bounds the keys that have a column; of longer texts, those with the most weight.
inline constexpr int kMaxColumns = 20;

/// "35.53", with U+2212 for minus.
std::string two(double value);
/// " + 35.53", " − 0.10": a further term.
std::string and_two(double value);
std::string length(const Vector& v);

/// Returns the twelve steps.
std::vector<Thread::Node> follow_steps(const FollowRun& run);
/// … of which the last five are made elsewhere, for the files' length.
std::vector<Thread::Node> follow_later_steps(const FollowRun& run);

/// Says where the predicted word stood before, and how a head copies it from there.
struct Copying {
    int answer = -1;              // token
    std::vector<int> sources;     // its places before the query
    int source = -1;              // the one whose previous token is the query's
    AttentionHead head;           // looks at the sources and promotes the answer
    float look = 0;               // its weight on the sources
    bool past_first = false;      // it looks most at another token than the first, which many heads rest on
    AttentionHead before{-1, 0};  // the earlier head with the most mean weight on the previous token
    float look_back = 0;          // that mean
};

/// Returns whether a row of weights has its largest on another token than the first.
bool looks_past_first(const Matrix& row);

/// Finds them in the run of a decoder, of a head that looks past the first token if one does; none: no head
/// has a fifth of its weight on the sources and raises the answer more than any other of its words, or no
/// source follows a copy of the query's token.
std::optional<Copying> find_copying(const Trace& trace, int query, ThreadPool& pool);

/// Keeps what the search for the first head found, so that the page need not search again.
struct CopySearch {
    const Trace* trace;
    int query;
    std::optional<Copying> found;
};

/// Tells how the model knew the predicted word: fills the stops, the question and the promise.
Status tell_story(const FollowRun& run, const std::optional<Copying>& found, Thread& thread);

}  // namespace headlight::learn
