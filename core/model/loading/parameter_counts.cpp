// Counts parameters by part.
#include "model/loading/parameter_counts.h"

#include <algorithm>

#include "base/cast.h"
#include "model/loading/config.h"

namespace headlight {

namespace {

std::string product(int64_t a, int64_t b) { return with_commas(a) + " × " + with_commas(b); }

/// Counts one part: the weights of matrices, and all parameters.
struct PartCount {
    int64_t matrices = 0, all = 0;
};

PartCount count_of(const std::vector<ParameterRow>& table, ModelPart part) {
    PartCount out;
    for (const ParameterRow& row : table) {
        if (row.part != part) continue;
        out.matrices += row.weights * row.count;
        out.all += row.each * row.count;
    }
    return out;
}

int64_t vocabulary_matrix(const ModelConfig& c) {
    return unembeds(c) ? int64_t{c.vocab} * c.unembedding_width() : 0;
}

/// Counts the embedding table a second time if it is the unembedding too.
int64_t tied_weights(const ModelConfig& c) { return c.tied_unembedding ? vocabulary_matrix(c) : 0; }

std::string heads_of(const AttentionCount& c) {
    return std::to_string(c.heads) + " heads" +
           (c.kv_heads != c.heads ? ", " + std::to_string(c.kv_heads) + " of keys and values" : "");
}

bool same_heads(const AttentionCount& a, const AttentionCount& b) {
    return a.heads == b.heads && a.kv_heads == b.kv_heads && a.d_head == b.d_head && a.d_value == b.d_value &&
           a.apart == b.apart && a.keys == b.keys && a.values == b.values;
}

struct Counts {
    std::vector<NamedCount> rows;

    void add(std::string name, std::string of, int64_t matrices, int64_t all, const char* help,
             bool shares = false) {
        rows.push_back({std::move(name), std::move(of), matrices, all, shares, false, help});
    }

    void add_head(const AttentionCount& c, const std::string& kind) {
        const std::string down = product(c.d_model, c.d_head), value_down = product(c.d_model, c.d_value),
                          up = product(c.d_value, c.d_model);
        const int64_t m = c.matrix(), v = c.value_matrix(), bias = c.bias ? c.d_head : 0,
                      value_bias = c.bias ? c.d_value : 0;
        add(kind + "W_Q of a head", down, m, m + bias, "What makes a query of a token: d_model · d_head.");
        add(kind + "W_K of a head", down, m, m + bias, "What makes a key of a token: d_model · d_head.");
        add(kind + "W_V of a head, value-down", value_down, v, v + value_bias,
            "What makes a value of a token: d_model · d_head.");
        add(kind + "W_O of a head, value-up", up, v, v,
            "What brings weighted values back to d_model: d_head · d_model; its bias belongs to the layer.");
        add(kind + "W_V W_O as one matrix", product(c.d_model, c.d_model), c.d_model * c.d_model,
            c.d_model * c.d_model,
            "What values would take without value-down and value-up: d_model · d_model; no model stores it.");
        add(kind + "one head", "4 matrices", c.head(), c.head() + 2 * bias + value_bias,
            c.kv_heads == c.heads ? "W_Q, W_K, W_V and W_O: 4 · d_model · d_head."
                                  : "W_Q, W_K, W_V and W_O: 4 · d_model · d_head; W_K and W_V are shared "
                                    "between heads.");
    }

    void add_layer(const AttentionCount& c, const std::string& kind) {
        add(kind + "attention of a layer", heads_of(c), c.layer(), c.layer() + c.layer_biases(),
            "2 · (heads + key/value heads) · d_model · d_head, which is 4 · d_model · d_model in most "
            "models.");
    }
};

void add_attention(Counts& out, const ModelConfig& c, const std::vector<ParameterRow>& table) {
    const auto kinds = attention_counts(c);
    const bool alike = std::all_of(kinds.begin(), kinds.end(),
                                   [&](const AttentionCount& k) { return same_heads(k, kinds[0]); });
    int layers = 0;
    for (const AttentionCount& kind : kinds) {
        const std::string of = kind.blocks.empty() ? "" : kind.blocks + ": ";
        const bool listed = (&kind == &kinds[0] || !alike) && !kind.apart;
        if (listed && kind.keys) out.add_head(kind, alike ? "" : of);
        if (listed) out.add_layer(kind, alike ? "" : of);
        layers += kind.layers;
    }
    const PartCount all = count_of(table, ModelPart::attention);
    out.add("attention in all", std::to_string(layers) + (kinds.size() > 1 ? " blocks" : " layers"),
            all.matrices, all.all, "The attention of all layers; norms are counted apart.", true);
}

void add_parts(Counts& out, const ModelConfig& c, const std::vector<ParameterRow>& table) {
    const auto add = [&](const char* name, const std::string& of, ModelPart part, int64_t again,
                         const char* help) {
        const PartCount count = count_of(table, part);
        const bool matrices = part != ModelPart::positions && part != ModelPart::norm;
        if (count.all + again)
            out.add(name, of, matrices ? count.matrices + again : 0, count.all + again, help, matrices);
    };
    const int64_t tied = tied_weights(c);
    add("MLP in all", std::to_string(c.layers()) + " layers", ModelPart::mlp, 0,
        "The matrices in and out (and the gate, where there is one) of all layers.");
    add("embedding", c.can.read_image ? "patches" : with_commas(c.stacks[0].vocab) + " tokens",
        ModelPart::embedding, 0, "A row of d_model numbers for each token.");
    add("unembedding", tied ? "the embedding again" : "", ModelPart::unembedding, tied,
        "A score for each token: d_model · vocabulary, and what stands before it.");
    add("positions", "", ModelPart::positions, 0,
        "What is learned of positions; no matrix that tokens go through.");
    add("norms", "", ModelPart::norm, 0, "Weights and biases of every norm.");
}

void add_whole(Counts& out, const ModelConfig& c) {
    const int64_t stored = parameter_count(c), again = vocabulary_matrix(c), tied = tied_weights(c);
    const int64_t matrices = matrix_count(c).all() - tied;
    if (!again) {
        out.add("the whole model", "", matrices, stored, "Everything that is stored. Shares are of this.");
        out.rows.back().whole = true;
        return;
    }
    const int64_t untied = stored + tied, untied_matrices = matrices + tied;
    out.add("the whole model, tied", tied ? "as stored" : "", untied_matrices - again, untied - again,
            "The unembedding is the embedding's own table, stored once.");
    out.add("the whole model, untied", tied ? "" : "as stored", untied_matrices, untied,
            "The unembedding is a matrix of its own: vocabulary · d_model more. Shares are of this.");
    out.rows.back().whole = true;
}

}  // namespace

bool unembeds(const ModelConfig& c) { return c.vocab > 0 && !c.can.read_image && c.predicts(); }

std::vector<AttentionCount> attention_counts(const ModelConfig& c) {
    std::vector<AttentionCount> out;
    const auto add = [&](const std::string& blocks, const AttentionSpec& a) {
        const AttentionCount one{.blocks = blocks,
                                 .layers = 1,
                                 .heads = a.heads,
                                 .kv_heads = a.kv_heads,
                                 .d_model = c.d_model,
                                 .d_head = a.d_head,
                                 .d_value = a.value_width(),
                                 .bias = a.bias,
                                 .output_bias = a.output_bias,
                                 .keys = a.makes_keys(),
                                 .values = a.projects_values(),
                                 .apart = a.latent.has_value() || a.recurrence.has_value()};
        for (AttentionCount& same : out)
            if (same.blocks == blocks && same_heads(same, one)) {
                ++same.layers;
                return;
            }
        out.push_back(one);
    };
    for (int b = 0; b < c.blocks(); ++b) {
        const AttentionBlock& at = c.block(b);
        const StackConfig& stack = c.stacks[at.stack];
        if (stack.repeats(at.layer)) continue;
        add(at.kind == AttentionKind::cross    ? "cross"
            : at.kind == AttentionKind::beside ? "mamba"
            : c.stacks.size() > 1              ? stack.name
                                               : "",
            c.attention(b));
    }
    return out;
}

MatrixCount matrix_count(const ModelConfig& c) {
    const auto table = parameter_table(c);
    return {count_of(table, ModelPart::embedding).matrices, count_of(table, ModelPart::attention).matrices,
            count_of(table, ModelPart::mlp).matrices,
            count_of(table, ModelPart::unembedding).matrices + tied_weights(c)};
}

std::vector<NamedCount> named_counts(const ModelConfig& c) {
    const auto table = parameter_table(c);
    Counts out;
    add_attention(out, c, table);
    add_parts(out, c, table);
    add_whole(out, c);
    return out.rows;
}

double share_of(const NamedCount& count, const ModelConfig& c) {
    return double(count.matrices) / double(std::max<int64_t>(1, matrix_count(c).all()));
}

const ModelConfig& published_config(Published model) {
    static const auto configs = [] {
        const Json all = embedded_json("assets/published.json");
        std::vector<ModelConfig> out;
        for (const char* name : {"gpt-3", "gpt-2", "transformer"})
            out.push_back(*parse_config(all[name], "published.json"));
        return out;
    }();
    return configs[static_cast<size_t>(model)];
}

}  // namespace headlight
