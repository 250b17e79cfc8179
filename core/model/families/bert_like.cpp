// Models that differ from BERT or RoBERTa by a few parts. ERNIE (Sun et al. 2020) adds a task's vector,
// MPNet (Song et al. 2020) T5's biases; Megatron-BERT (Shoeybi et al. 2019), XLM-RoBERTa-XL (Goyal et al.
// 2021) and RoBERTa-PreLayerNorm are pre-norm; RemBERT (Chung et al. 2021) has an unembedding of its own
// width, LUKE one that is not tied; RoFormer (Su et al. 2021) rotates; Longformer (Beltagy et al. 2020) and
// BigBird (Zaheer et al. 2020) see less.
#include <cmath>

#include "base/quoted.h"
#include "model/families/bert.h"
#include "model/families/block_sparse.h"
#include "model/families/longformer.h"

namespace headlight {

namespace {

Result<ModelConfig> read_ernie(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r);
    if (r.boolean({"use_task_id"}, false))
        c.added_tables = {{r.integer({"task_type_vocab_size"}, 3, 1, 1 << 10)}};
    return r.finish(c);
}

/// Reads LayoutLM (Xu et al. 2020) as it reads a text without boxes on a page: all are empty, at 0.
Result<ModelConfig> read_layoutlm(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r);
    const int places = r.integer({"max_2d_position_embeddings"}, 1024, 1, 1 << 20);
    c.added_tables = {{places, 2}, {places, 2}, {places}, {places}};
    c.kind = ModelKind::encoder;
    c.stacks[0].causal = false;
    return r.finish(c);
}

/// Reads TAPAS (Herzig et al. 2020) as it reads a text without a table: of the further types all are 0.
Result<ModelConfig> read_tapas(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r, {.context = 1024, .types = 0});
    const bool stated = root.contains("type_vocab_sizes");
    const Json sizes = stated ? root["type_vocab_sizes"] : Json{3, 256, 256, 2, 256, 256, 10};
    constexpr size_t kKinds = 7;
    if (!sizes.is_array() || sizes.size() != kKinds) {
        r.fail(file + ": \"type_vocab_sizes\" must be a list of 7 sizes, as TAPAS has; correct the file.");
        return r.finish(c);
    }
    for (size_t i = 0; i < kKinds; ++i) {
        const Json one{{"type_vocab_sizes", sizes[i]}};
        const int rows =
            narrow<int>(r.keep(json_integer(one, "type_vocab_sizes", 1, 1, 1 << 20, file), int64_t{1}));
        if (i == 0)
            c.token_types = rows;
        else
            c.added_tables.push_back({rows});
    }
    return r.finish(c);
}

/// Reads RoCBERT (Su et al. 2022) as it reads a text without the shapes and sounds of its characters.
Result<ModelConfig> read_roc_bert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r);
    if (!r.boolean({"concat_input"}, true)) return r.finish(c);
    if (!r.boolean({"enable_shape"}, true))
        r.fail(file +
               ": RoCBERT that joins no shapes (enable_shape) is not computed; set concat_input to false, or "
               "use a model with both.");
    else
        c.joined_tables.push_back({r.integer({"shape_vocab_size"}, 24858, 1, 1 << 23),
                                   r.integer({"shape_embed_dim"}, 512, 1, 1 << 17)});
    if (r.boolean({"enable_pronunciation"}, true))
        c.joined_tables.push_back({r.integer({"pronunciation_vocab_size"}, 910, 1, 1 << 23),
                                   r.integer({"pronunciation_embed_dim"}, 768, 1, 1 << 17)});
    c.embed_project = c.d_model_positions = true;
    return r.finish(c);
}

/// Reads GIT (Wang et al. 2022) as it reads a text without a picture: BERT's layers under a causal mask.
Result<ModelConfig> read_git(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r, {.layers = 6, .context = 1024, .types = 0});
    c.kind = ModelKind::decoder;
    c.stacks[0].causal = true;
    c.mlm_head = false;
    c.logits_bias = true;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    c.end_id = 102;
    return r.finish(c);
}

Result<ModelConfig> read_data2vec(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_roberta_common(r));
}

/// Reads I-BERT (Kim et al. 2021) as the RoBERTa that it was before it computed in integers.
Result<ModelConfig> read_ibert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    const ModelConfig c = read_roberta_common(r);
    if (r.boolean({"quant_mode"}, false))
        r.fail(file + ": arithmetic in integers (quant_mode) is not computed; set it to false.");
    return r.finish(c);
}

Result<ModelConfig> read_roberta_prelayernorm(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_roberta_common(r, {.vocabulary = 50265});
    set_pre_norm(c);
    return r.finish(c);
}

Result<ModelConfig> read_xlm_roberta_xl(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_roberta_common(r, {.width = 2560,
                                            .heads = 32,
                                            .layers = 36,
                                            .mlp = 10240,
                                            .vocabulary = 250880,
                                            .context = 514,
                                            .types = 1,
                                            .norm_eps = 1e-5});
    set_pre_norm(c);
    c.embed_norm = false;
    return r.finish(c);
}

Result<ModelConfig> read_megatron_bert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c =
        read_bert_common(r, {.width = 1024, .heads = 16, .layers = 24, .mlp = 4096, .vocabulary = 29056});
    set_pre_norm(c);
    c.embed_norm = false;
    return r.finish(c);
}

Result<ModelConfig> read_rembert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c =
        read_bert_common(r, {.width = 1152, .heads = 18, .layers = 32, .mlp = 4608, .vocabulary = 250300});
    c.d_embed = r.integer({"input_embedding_size"}, 256, 1, 1 << 17);
    c.d_unembed = r.integer({"output_embedding_size"}, 1664, 1, 1 << 17);
    c.embed_project = true;
    c.tied_unembedding = false;  // whatever the file says: the widths differ
    return r.finish(c);
}

Result<ModelConfig> read_roformer(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r, {.vocabulary = 50000, .context = 1536, .learned_positions = false});
    c.d_embed = r.integer({or_null("embedding_size")}, c.d_model, 1, 1 << 17);
    if (r.boolean({"rotary_value"}, false))
        r.fail(file +
               ": rotated values (rotary_value) are not computed; use a model that rotates queries "
               "and keys alone.");
    for (LayerSpec& layer : c.stacks[0].layers) {
        layer.attention.rope.dims = layer.attention.d_head;
        layer.attention.rope.interleaved = layer.attention.rope.in_double = true;
        if (layer.attention.d_head % 2)
            r.fail(file + ": heads of an odd width (" + std::to_string(layer.attention.d_head) +
                   ") cannot be rotated; correct the number of heads or the width.");
    }
    return r.finish(c);
}

/// Reads BERT without token types, and without a layer before the unembedding (Rothe et al. 2020).
Result<ModelConfig> read_bert_generation(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(
        r, {.width = 1024, .heads = 16, .layers = 24, .mlp = 4096, .vocabulary = 50358, .types = 0});
    c.mlm_head = false;
    c.plain_head = c.logits_bias = true;
    c.end_id = 1;
    return r.finish(c);
}

/// Reads LUKE (Yamada et al. 2020) for a text that names no entities: RoBERTa with an unembedding of its own.
Result<ModelConfig> read_luke(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_roberta_common(r, {.vocabulary = 50267}));
}

Result<ModelConfig> read_mpnet(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r, {.vocabulary = 30527, .types = 0});
    count_from_padding(r, c, 1);
    c.head_activation = Activation::gelu;
    c.end_id = 2;
    c.buckets.count = r.integer({"relative_attention_num_buckets"}, 32, 1, 1 << 16);
    if (c.buckets.count != 32)
        r.fail(file +
               ": MPNet counts 32 buckets of distances, whatever relative_attention_num_buckets says; "
               "correct the file.");
    return r.finish(c);
}

Result<ModelConfig> read_longformer(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_roberta_common(r);
    read_window_of_each(r, c.stacks[0]);
    return r.finish(c);
}

Result<ModelConfig> read_big_bird(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r, {.vocabulary = 50358, .context = 4096, .activation = "gelu_new"});
    read_block_sparse(r, c);
    const bool bias = r.boolean({"use_bias"}, true);
    for (LayerSpec& layer : c.stacks[0].layers) layer.attention.bias = bias;
    if (r.boolean({"rescale_embeddings"}, false)) c.embed_scale = std::sqrt(float(c.d_model));
    return r.finish(c);
}

/// Reads SqueezeBERT (Iandola et al. 2020): BERT, whose matrices are block-diagonal, as their shapes say.
Result<ModelConfig> read_squeezebert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r);
    if (r.integer({"embedding_size"}, 768, 1, 1 << 17) != c.d_model)
        r.fail(file + ": SqueezeBERT's embedding_size must be its hidden_size; correct the file.");
    if (c.norm_eps != 1e-12f)
        r.fail(file +
               ": SqueezeBERT norms its layers with 1e-12, whatever layer_norm_eps says; set it to that.");
    c.kind = ModelKind::encoder;  // its class takes no is_decoder
    c.stacks[0].causal = false;
    return r.finish(c);
}

constexpr const char *kErniePrefixes[] = {"ernie.", ""}, *kData2VecPrefixes[] = {"data2vec_text.", ""},
                     *kIBertPrefixes[] = {"ibert.", ""}, *kLongformerPrefixes[] = {"longformer.", ""},
                     *kLukePrefixes[] = {"luke.", ""},
                     *kPreLayerNormPrefixes[] = {"roberta_prelayernorm.", ""},
                     *kXlPrefixes[] = {"roberta.", ""}, *kMegatronPrefixes[] = {"bert.", ""},
                     *kRemBertPrefixes[] = {"rembert.", ""}, *kRoFormerPrefixes[] = {"roformer.", ""},
                     *kLayoutLmPrefixes[] = {"layoutlm.", ""}, *kTapasPrefixes[] = {"tapas.", ""},
                     *kGitPrefixes[] = {"git.", ""}, *kRocBertPrefixes[] = {"roc_bert.", ""},
                     *kMpnetPrefixes[] = {"mpnet.", ""}, *kSqueezePrefixes[] = {"transformer.", ""};

constexpr TensorRow kErnieTensors[] = {{Slot::added_tables, "embeddings.task_type_embeddings"}};
constexpr TensorRow kLayoutLmTensors[] = {
    {Slot::added_tables, "embeddings.x_position_embeddings"},
    {Slot::added_tables, "embeddings.y_position_embeddings"},
    {Slot::added_tables, "embeddings.h_position_embeddings"},
    {Slot::added_tables, "embeddings.w_position_embeddings"},
};
constexpr TensorRow kTapasTensors[] = {
    {Slot::type_embedding, "embeddings.token_type_embeddings_0"},
    {Slot::added_tables, "embeddings.token_type_embeddings_1"},
    {Slot::added_tables, "embeddings.token_type_embeddings_2"},
    {Slot::added_tables, "embeddings.token_type_embeddings_3"},
    {Slot::added_tables, "embeddings.token_type_embeddings_4"},
    {Slot::added_tables, "embeddings.token_type_embeddings_5"},
    {Slot::added_tables, "embeddings.token_type_embeddings_6"},
};
constexpr TensorRow kShapeTensors[] = {
    {Slot::embed_project, "embeddings.map_inputs_layer"},
    {Slot::joined_tables, "embeddings.shape_embed"},
    {Slot::joined_tables, "embeddings.pronunciation_embed"},
};
constexpr TensorRow kGitHead[] = {
    {Slot::unembedding, "output"},
    {Slot::unembedding_bias, "output.bias"},
};
constexpr TensorRow kPreLayerNormTensors[] = {
    {Slot::attn_norm, "encoder.layer.#.attention.LayerNorm"},
    {Slot::mlp_norm, "encoder.layer.#.intermediate.LayerNorm"},
    {Slot::final_norm, "LayerNorm"},
};
constexpr TensorRow kXlTensors[] = {
    {Slot::attn_norm, "encoder.layer.#.attention.self_attn_layer_norm"},
    {Slot::mlp_norm, "encoder.layer.#.LayerNorm"},
    {Slot::final_norm, "encoder.LayerNorm"},
};
constexpr TensorRow kMegatronTensors[] = {
    {Slot::attn_norm, "encoder.layer.#.attention.ln"},
    {Slot::mlp_norm, "encoder.layer.#.ln"},
    {Slot::final_norm, "encoder.ln"},
};
constexpr TensorRow kBertGenerationHead[] = {
    {Slot::unembedding, "lm_head.decoder"},
    {Slot::unembedding_bias, "lm_head.decoder.bias"},
    {Slot::unembedding_bias, "lm_head.bias"},
};
constexpr TensorRow kRemBertTensors[] = {
    {Slot::embed_project, "encoder.embedding_hidden_mapping_in"},
    {Slot::head_dense, "cls.predictions.dense"},
    {Slot::head_norm, "cls.predictions.LayerNorm"},
};
constexpr TensorRow kMpnetTensors[] = {
    {Slot::q, "encoder.layer.#.attention.attn.q"},
    {Slot::k, "encoder.layer.#.attention.attn.k"},
    {Slot::v, "encoder.layer.#.attention.attn.v"},
    {Slot::o, "encoder.layer.#.attention.attn.o"},
    {Slot::attn_norm, "encoder.layer.#.attention.LayerNorm"},
    {Slot::relative_bias, "encoder.relative_attention_bias.weight"},
};
constexpr TensorRow kSqueezeTensors[] = {
    {Slot::q, "encoder.layers.#.attention.query", "", Stored::groups},
    {Slot::k, "encoder.layers.#.attention.key", "", Stored::groups},
    {Slot::v, "encoder.layers.#.attention.value", "", Stored::groups},
    {Slot::o, "encoder.layers.#.post_attention.conv1d", "", Stored::groups},
    {Slot::attn_norm, "encoder.layers.#.post_attention.layernorm"},
    {Slot::up, "encoder.layers.#.intermediate.conv1d", "", Stored::groups},
    {Slot::down, "encoder.layers.#.output.conv1d", "", Stored::groups},
    {Slot::mlp_norm, "encoder.layers.#.output.layernorm"},
};

}  // namespace

const Family kErnie{"ernie", "ERNIE", read_ernie, {kErniePrefixes, kErnieTensors, kBertHead, kBertLayers}};
const Family kLayoutLm{
    "layoutlm", "LayoutLM", read_layoutlm, {kLayoutLmPrefixes, kLayoutLmTensors, kBertHead, kBertLayers}};
const Family kTapas{"tapas", "TAPAS", read_tapas, {kTapasPrefixes, kTapasTensors, kBertHead, kBertLayers}};
const Family kRocBert{
    "roc_bert", "RoCBERT", read_roc_bert, {kRocBertPrefixes, kShapeTensors, kBertHead, kBertLayers}};
const Family kGit{"git", "GIT (text part)", read_git, {kGitPrefixes, kGitHead, kBertLayers}};
const Family kData2VecText{
    "data2vec-text", "Data2Vec", read_data2vec, {kData2VecPrefixes, kRobertaHead, kBertLayers}};
const Family kIBert{"ibert", "I-BERT", read_ibert, {kIBertPrefixes, kRobertaHead, kBertLayers}};
const Family kRobertaPreLayerNorm{"roberta-prelayernorm",
                                  "RoBERTa-PreLayerNorm",
                                  read_roberta_prelayernorm,
                                  {kPreLayerNormPrefixes, kPreLayerNormTensors, kRobertaHead, kBertLayers}};
const Family kXlmRobertaXl{"xlm-roberta-xl",
                           "XLM-RoBERTa-XL",
                           read_xlm_roberta_xl,
                           {kXlPrefixes, kXlTensors, kRobertaHead, kBertLayers}};
const Family kMegatronBert{"megatron-bert",
                           "Megatron-BERT",
                           read_megatron_bert,
                           {kMegatronPrefixes, kMegatronTensors, kBertHead, kBertLayers}};
const Family kBertGeneration{"bert-generation",
                             "BERT generation",
                             read_bert_generation,
                             {kMegatronPrefixes, kBertGenerationHead, kBertLayers}};
const Family kRemBert{
    "rembert", "RemBERT", read_rembert, {kRemBertPrefixes, kRemBertTensors, kBertHead, kBertLayers}};
const Family kRoFormer{"roformer", "RoFormer", read_roformer, {kRoFormerPrefixes, kBertHead, kBertLayers}};
const Family kMpnet{"mpnet", "MPNet", read_mpnet, {kMpnetPrefixes, kMpnetTensors, kRobertaHead, kBertLayers}};
const Family kLuke{"luke", "LUKE", read_luke, {kLukePrefixes, kRobertaHead, kBertLayers}};
const Family kLongformer{
    "longformer", "Longformer", read_longformer, {kLongformerPrefixes, kRobertaHead, kBertLayers}};
const Family kSqueezeBert{"squeezebert",
                          "SqueezeBERT",
                          read_squeezebert,
                          {kSqueezePrefixes, kSqueezeTensors, kBertHead, kBertLayers}};
const Family kBigBird{"big_bird", "BigBird", read_big_bird, {kMegatronPrefixes, kBertHead, kBertLayers}};

}  // namespace headlight
