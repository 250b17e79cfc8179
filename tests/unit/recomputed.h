// Applies every kind of change to every family at random places, for tests of what is shown.
#pragma once

#include <array>
#include <cstdlib>
#include <optional>
#include <random>

#include "changed.h"
#include "model/interventions/patch_change.h"
#include "model/position_scheme.h"

namespace headlight {

inline constexpr const char* kEveryFamily[] = {
    "albert",  "bart",     "bert",  "bloom",        "distilbert", "electra",    "gemma2", "gemma4",
    "gpt2",    "gpt_neox", "llama", "marian",       "mistral",    "modernbert", "opt",    "phi",
    "mixtral", "qwen2",    "qwen3", "qwen3_5_text", "nemotron_h", "jamba",      "lfm2",   "gpt_oss",
    "roberta", "t5",       "vit",   "falcon_h1",    "gemma3n"};

/// Returns another seed in each run, unless HEADLIGHT_SEED sets it.
inline unsigned fresh_seed() {
    const char* given = std::getenv("HEADLIGHT_SEED");
    return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device()() % 1000000;
}

/// Draws requests and changes of runs of one model.
class ChangedRuns {
public:
    ChangedRuns(const std::shared_ptr<const Model>& model, unsigned seed) : model_(model), random_(seed) {
        inputs_ = drawn_inputs();
    }

    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
    ForwardRequest plain() const { return {inputs_, {}}; }
    /// Draws a block, and a head of it.
    AttentionHead head() {
        const int block = below(config().blocks());
        return {block, below(config().heads(block))};
    }
    /// Draws a change of this kind at a head's block, or the nearest possible; none if the model has nothing
    /// to change.
    std::optional<Change> of_kind(ChangeKind kind, AttentionHead at);

private:
    const ModelConfig& config() const { return model_->config; }
    std::vector<Sequence> drawn_inputs();
    std::vector<int> ids(int count) {
        std::vector<int> out;
        for (int i = 0; i < count; ++i) out.push_back(4 + below(85));
        return out;
    }
    std::shared_ptr<const Matrix> values(Index rows, Index width) {
        return std::make_shared<const Matrix>(random_matrix(rows, width, random_()));
    }

    std::shared_ptr<const Model> model_;
    std::mt19937 random_;
    std::vector<Sequence> inputs_;
};

inline std::vector<Sequence> ChangedRuns::drawn_inputs() {
    if (config().can.read_image) {
        TextInput picture;
        picture.image =
            std::make_shared<const RgbImage>(*open_image(kTests / "reference/models/vit/gray.png"));
        return encode_input(*model_, picture)->sequences;
    }
    std::vector<Sequence> out = request_of(ids(10)).inputs;
    if (config().stacks.size() > 1) out.push_back(request_of(ids(7)).inputs[0]);
    return out;
}

inline std::optional<Change> ChangedRuns::of_kind(ChangeKind kind, AttentionHead at) {
    const ModelConfig& c = config();
    const ChangeRow& row = change_row(kind);
    const AttentionBlock block = c.block(at.block);
    const int self = c.blocks_of(block.stack, block.layer).front(), queries = inputs_[block.stack].size(),
              keys = inputs_[block.key_stack].size();
    const std::string q = std::to_string(1 + below(queries - 1)), k = std::to_string(below(keys)),
                      head = head_path(c, at.block, at.head), layer = block_path(c, self);
    const std::array<std::string, 5> temperatures{"0.25", "0.5", "2.5", "0", "inf"};
    Change out;
    if (kind == ChangeKind::positions && c.positions == PositionScheme::none) return {};
    if (kind == ChangeKind::noise && (c.can.read_image || c.has_streams())) return {};
    const bool softmax = kind == ChangeKind::score || kind == ChangeKind::temperature ||
                         kind == ChangeKind::uniform || kind == ChangeKind::hard,
               mlp = kind == ChangeKind::skip_mlp || kind == ChangeKind::patch_mlp;
    if ((softmax && c.attention(at.block).recurrence) || (mlp && c.layer_of(self).mlp.none())) return {};
    const auto& experts = c.layer_of(self).mlp.experts;
    if (kind == ChangeKind::ablate_expert && !experts) return {};
    const std::string text =
        row.ablates                          ? "ablate:" + head + ":" + row.name
        : kind == ChangeKind::temperature    ? "temperature:" + temperatures[size_t(below(5))] + "@" + head
        : kind == ChangeKind::mask           ? "mask:" + q + ">" + k + "@" + head
        : kind == ChangeKind::unmask         ? "unmask:" + q + ">" + k + "@" + head
        : kind == ChangeKind::score          ? "score:" + q + ">" + k + "@" + head + "=2.5"
        : kind == ChangeKind::freeze         ? "freeze:" + head + "=x"
        : kind == ChangeKind::skip_attention ? "skip-attention:" + block_path(c, at.block)
        : kind == ChangeKind::skip_mlp       ? "skip-mlp:" + layer
        : kind == ChangeKind::ablate_expert
            ? "ablate-expert:" + layer + "." + std::to_string(below(experts->count))
        : kind == ChangeKind::positions       ? (below(2) ? "positions:off" : "positions:shuffle:7")
        : kind == ChangeKind::noise           ? "noise:" + q + "=7"
        : kind == ChangeKind::patch_head      ? "patch-head:" + q + "@" + head
        : kind == ChangeKind::patch_attention ? "patch-attention:" + q + "@" + block_path(c, at.block)
                                              : std::string(row.name) + ":" + q + "@" + layer;
    const auto read = parse_change(c, text);
    REQUIRE_MESSAGE(read, text);
    out = *read;
    if (kind == ChangeKind::freeze) {
        Matrix pattern = random_matrix(queries - below(3), keys, random_()).cwiseAbs();
        pattern.array().colwise() /= pattern.rowwise().sum().array();
        out.pattern = std::make_shared<const Matrix>(pattern);
    }
    if (is_patch(kind) || kind == ChangeKind::noise)
        out.pattern = values(kind == ChangeKind::noise ? inputs_[0].size() : queries,
                             kind == ChangeKind::patch_head ? c.d_value(at.block) : c.d_model);
    return out;
}

/// Calls see(trace, head, queries) for each family and kind of change: the run, the changed head or block,
/// and three of its queries, the changed one among them.
template <class See>
void for_changed_runs(unsigned seed, ThreadPool& pool, const See& see) {
    for (const char* family : kEveryFamily) {
        ChangedRuns runs(reference_model(family), seed);
        const auto model = reference_model(family);
        for (const ChangeRow& row : change_rows()) {
            const AttentionHead at = runs.head();
            const auto change = runs.of_kind(row.kind, at);
            if (!change) continue;
            ForwardRequest request = runs.plain();
            request.intervention.changes = {*change};
            CAPTURE(seed);
            CAPTURE(family);
            const std::string said = change_name(model->config, *change);
            CAPTURE(said);
            const auto trace = run_trace(model, request, pool);
            REQUIRE(trace);
            const int n = (*trace)->query_count(at.block),
                      changed = std::min(std::max(change->query, 0), n - 1);
            see(**trace, at, std::array{changed, runs.below(n), n - 1});
        }
    }
}

}  // namespace headlight
