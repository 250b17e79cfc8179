// Computes the station "Counting parameters".
#include "learn/stations/parameters.h"

#include <algorithm>
#include <array>

#include "analysis/circuits/head_matrices.h"
#include "learn/page_parts.h"
#include "model/loading/parameter_counts.h"

namespace headlight::learn {

namespace {

struct CountedModel {
    std::string name;
    ModelConfig config;
};

CountedModel counted_model(const StationInput& input, const ParametersState& state) {
    if (state.of == ParametersState::Of::open && input.model) return {input.model->name, input.model->config};
    if (state.of == ParametersState::Of::gpt2) return {"GPT-2", published_config(Published::gpt2)};
    if (state.of == ParametersState::Of::transformer)
        return {"the Transformer of 2017", published_config(Published::transformer)};
    CountedModel out{"GPT-3", published_config(Published::gpt3)};
    if (state.of != ParametersState::Of::own) return out;
    ModelConfig& c = out.config;
    out.name = "A model of one's own";
    c.d_model = c.d_embed = std::max(1, state.d_model);
    c.vocab = c.stacks[0].vocab = std::max(1, state.vocab);
    LayerSpec layer = c.stacks[0].layers[0];
    layer.attention.heads = layer.attention.kv_heads = std::max(1, state.heads);
    layer.attention.d_head = std::max(1, state.d_head);
    layer.mlp.width = std::max(1, state.d_mlp);
    c.stacks[0].layers.assign(std::max(1, state.layers), layer);
    c.number_blocks();
    return out;
}

std::string by(int64_t a, int64_t b) { return with_commas(a) + " × " + with_commas(b); }

void add_block(Table& table, const AttentionCount& c) {
    const std::string of = c.blocks.empty() ? "" : c.blocks + ": ";
    for (const char* name : {"query W_Q", "key W_K"})
        add_cells(table,
                  {words_cell(of + name), words_cell(by(c.d_head, c.d_model)), count_cell(c.matrix())});
    const auto add_value = [&](const char* name, const std::string& size) {
        add_cells(table, {words_cell(of + name), words_cell(size), count_cell(c.value_matrix())});
    };
    add_value("value-down W_V", by(c.d_value, c.d_model));
    add_value("value-up W_O", by(c.d_model, c.d_value));
    const bool shared = c.kv_heads != c.heads;
    add_cells(table, {words_cell(of + "a head"), words_cell("4 matrices"), count_cell(c.head())});
    add_cells(table, {words_cell(of + "a layer"),
                      words_cell(std::to_string(c.heads) + " heads" +
                                 (shared ? ", " + std::to_string(c.kv_heads) + " of keys and values" : "")),
                      count_cell(c.layer())});
    add_cells(table, {words_cell(of + "all layers"), words_cell(std::to_string(c.layers) + " layers"),
                      count_cell(c.all())});
}

Table attention_table(const CountedModel& model) {
    Table out{.title = "Attention of " + model.name, .columns = {"", "shape", "weights"}};
    for (const AttentionCount& count : attention_counts(model.config)) add_block(out, count);
    return out;
}

Table model_table(const CountedModel& model) {
    const MatrixCount c = matrix_count(model.config);
    Table out{.title = "The whole model", .columns = {"", "weights", "share"}};
    const auto add = [&](const char* name, int64_t count) {
        const double share = 100.0 * double(count) / double(std::max<int64_t>(1, c.all()));
        add_cells(out, {words_cell(name), count_cell(count), {written(share, 1) + " %", share}});
    };
    add("embedding", c.embedding);
    add("attention", c.attention);
    add("MLP", c.mlp);
    add("unembedding", c.unembedding);
    add("all matrices", c.all());
    const int64_t stored = parameter_count(model.config);
    const std::string tied = model.config.tied_unembedding ? ", one table for both embeddings" : "";
    add_cells(out, {words_cell("stored, with biases, norms and positions" + tied), count_cell(stored),
                    words_cell("")});
    return out;
}

/// Shows the same shares as bars.
BarRows share_bars(const CountedModel& model) {
    const MatrixCount c = matrix_count(model.config);
    const auto all = float(std::max<int64_t>(1, c.all()));
    BarRows out{.columns = {"embedding", "attention", "MLP", "unembedding"},
                .rows = {},
                .cells = {},
                .no_largest = true};
    out.rows.push_back({.title = "Shares",
                        .formula = "weights ÷ all weights",
                        .values = {float(c.embedding) / all, float(c.attention) / all, float(c.mlp) / all,
                                   float(c.unembedding) / all}});
    return out;
}

/// Compares the heads of a layer with one head as wide as all of them.
Steps heads_steps(const CountedModel& model) {
    const AttentionCount c = attention_counts(model.config).front();
    const int64_t wide = c.heads * c.d_head;
    const std::string heads = std::to_string(c.heads), d_head = with_commas(c.d_head),
                      d_model = with_commas(c.d_model), one = with_commas(wide);
    Steps out{.title = "Many narrow heads cost what one wide head costs"};
    out.lines = {{heads + " heads of " + d_head, heads + " · 4 · " + d_head + " · " + d_model,
                  with_commas(c.heads * c.head())},
                 {"1 head of " + one, "4 · " + one + " · " + d_model, with_commas(4 * wide * c.d_model)},
                 {"scores of one pair, " + heads + " heads", heads + " · " + d_head + " multiplications",
                  with_commas(wide)},
                 {"scores of one pair, 1 head", one + " multiplications", with_commas(wide)}};
    return out;
}

/// Answers the article's question: why not one matrix from token to token?
Table value_table(const CountedModel& model) {
    const AttentionCount c = attention_counts(model.config).front();
    Table out{.title = "A value matrix, whole or as two", .columns = {"", "shape", "weights"}};
    add_cells(out,
              {words_cell("whole"), words_cell(by(c.d_model, c.d_model)), count_cell(c.d_model * c.d_model)});
    add_cells(out, {words_cell("value-up · value-down, rank ≤ " + std::to_string(c.d_value)),
                    words_cell("2 × " + by(c.d_value, c.d_model)), count_cell(2 * c.value_matrix())});
    return out;
}

/// Plots the singular values of the selected head's value matrix, and the zeros after them.
Curves value_curves(const StationInput& input) {
    const AttentionHead head{input.block, input.head};
    const ModelConfig& c = input.model->config;
    const Vector values = singular_values(value_factors(*input.model, head));
    const int rank = narrow<int>(values.size());
    Curves out{.title = "Value matrix of head " + head_name(c, head),
               .x_is = "number",
               .y_is = "singular value",
               .lines = {line_of("of W_V · W_O", {}, {})},
               .mark_x = float(c.d_value(input.block)),
               .mark_name = "d_head"};
    for (int i = 0; i < std::min(2 * rank, c.d_model); ++i) {
        out.lines[0].x.push_back(float(i + 1));
        out.lines[0].y.push_back(i < rank ? values[i] : 0);
    }
    return out;
}

bool has_value_matrices(const StationInput& input) {
    return input.model && !input.model->weights.stacks.empty() &&
           input.model->config.has_head({input.block, input.head});
}

}  // namespace

void ParametersState::visit(ControlVisitor& v) {
    static constexpr std::array<const char*, 5> kOf{"gpt-3", "gpt-2", "transformer", "open", "own"};
    v.choose("of", "Of", of, kOf);
    v.whole("d_model", "d_model", d_model, 1, 65536);
    v.whole("layers", "Layers", layers, 1, 1000);
    v.whole("heads", "Heads", heads, 1, 1000);
    v.whole("d_head", "d_head", d_head, 1, 4096);
    v.whole("d_mlp", "d_mlp", d_mlp, 1, 1000000);
    v.whole("vocab", "Vocabulary", vocab, 1, 1000000);
}

Result<Page> parameters_page(const StationInput& input, const ParametersState& state, ThreadPool&) {
    const CountedModel model = counted_model(input, state);
    Page page;
    page.note = "weights of matrices, without biases";
    if (state.of != ParametersState::Of::own)
        for (const char* size : {"d_model", "layers", "heads", "d_head", "d_mlp", "vocab"})
            page.idle.push_back({size, "of=own"});
    page.blocks = {share_bars(model), model_table(model), attention_table(model), value_table(model),
                   heads_steps(model)};
    page.main = 3;
    if (has_value_matrices(input)) page.blocks.push_back(value_curves(input));
    if (state.of == ParametersState::Of::open && !input.model)
        page.blocks.push_back(Words{"No model is open, so GPT-3 is counted."});
    return page;
}

}  // namespace headlight::learn
