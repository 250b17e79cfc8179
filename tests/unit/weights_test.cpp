// Tests what files decide: unread tensors, tied ones under any of their names, float64 weights.
#include <algorithm>

#include "checkpoint.h"
#include "gguf_bytes.h"
#include "model/input.h"
#include "trace/trace_file.h"

using namespace headlight;

namespace {

std::string problem_of(const Checkpoint& files) {
    const auto model = files.open();
    return model ? "" : model.error().message;
}

/// Returns every tensor of a pass, logits included.
std::map<std::string, std::string> pass_of(const std::shared_ptr<const Model>& model) {
    ThreadPool pool(1);
    TextInput typed;
    typed.ids = {1, 5, 9, 4};
    if (model->config.can.write_target) typed.target_ids = {2, 7, 6};
    const auto input = encode_input(*model, typed);
    REQUIRE(input);
    const TemporaryFolder out;
    REQUIRE(
        write_trace(out.path / "t.safetensors", **run_trace(model, {input->sequences, {}}, pool), {}, pool));
    const auto file = open_safetensors(out.path / "t.safetensors");
    std::map<std::string, std::string> all;
    for (const auto& [name, t] : file->tensors)
        all[name] = std::string(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
    return all;
}

void check_opens_as(const Checkpoint& files, const std::map<std::string, std::string>& expected) {
    const auto model = files.open();
    const std::string problem = model ? "" : model.error().message;
    CAPTURE(problem);
    REQUIRE(model);
    CHECK(pass_of(*model) == expected);
}

constexpr const char* kFolders[] = {"albert",  "bart",    "bert",       "bloom",    "distilbert",
                                    "electra", "gemma2",  "gpt2",       "gpt_neox", "llama",
                                    "marian",  "mistral", "modernbert", "opt",      "phi",
                                    "qwen2",   "qwen3",   "roberta",    "t5",       "vit"};

/// Lists tables that are one, by their names in the reference files: stored, and possible ones.
struct Tied {
    const char* folder;
    const char* stored;
    std::vector<const char*> others;
};
const Tied kTied[] = {
    {"gpt2", "transformer.wte.weight", {"lm_head.weight"}},
    {"bloom", "transformer.word_embeddings.weight", {"lm_head.weight"}},
    {"opt", "model.decoder.embed_tokens.weight", {"lm_head.weight"}},
    {"qwen2", "model.embed_tokens.weight", {"lm_head.weight"}},
    {"qwen3", "model.embed_tokens.weight", {"lm_head.weight"}},
    {"gemma2", "model.embed_tokens.weight", {"lm_head.weight"}},
    {"bert", "bert.embeddings.word_embeddings.weight", {"cls.predictions.decoder.weight"}},
    {"bert", "cls.predictions.bias", {"cls.predictions.decoder.bias"}},
    {"roberta", "roberta.embeddings.word_embeddings.weight", {"lm_head.decoder.weight"}},
    {"roberta", "lm_head.bias", {"lm_head.decoder.bias"}},
    {"albert", "albert.embeddings.word_embeddings.weight", {"predictions.decoder.weight"}},
    {"albert", "predictions.bias", {"predictions.decoder.bias"}},
    {"electra", "electra.embeddings.word_embeddings.weight", {"generator_lm_head.weight"}},
    {"distilbert", "distilbert.embeddings.word_embeddings.weight", {"vocab_projector.weight"}},
    {"modernbert", "model.embeddings.tok_embeddings.weight", {"decoder.weight"}},
    {"bart",
     "model.shared.weight",
     {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}},
    {"marian",
     "model.shared.weight",
     {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}},
    {"t5", "shared.weight", {"lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}},
};

}  // namespace

TEST_CASE("an unread tensor is refused by name, in every family") {
    for (const char* folder : kFolders) {
        CAPTURE(folder);
        const Checkpoint files = Checkpoint::of(folder);
        const auto of_layer = std::find_if(files.tensors.begin(), files.tensors.end(), [](const auto& t) {
            return t.first.find(".0.") != std::string::npos && t.first.ends_with(".weight");
        });
        REQUIRE(of_layer != files.tensors.end());
        const std::string stem = of_layer->first.substr(0, of_layer->first.size() - 7);
        for (const std::string& name :
             {stem + ".extra", stem + "_norm.weight", std::string("surprise.weight")}) {
            Checkpoint more = files;
            more.add(name);
            CHECK(says(problem_of(more), "holds the tensor " + name + " that"));
        }
    }
    Checkpoint biased = Checkpoint::of("llama");
    for (const char* part : {"q", "k"})
        biased.add(std::string("model.layers.0.self_attn.") + part + "_proj.bias", "F32", 8);
    CHECK(
        says(problem_of(biased), "k_proj.bias and 1 more that a Llama of this configuration does not have"));
}

TEST_CASE("buffers and heads for other tasks are accepted") {
    for (const char* folder : kFolders) {
        CAPTURE(folder);
        Checkpoint files = Checkpoint::of(folder);
        for (const char* name :
             {"score.weight", "qa_outputs.bias", "pooler.dense.weight", "v_head.summary.weight",
              "model.layers.0.self_attn.rotary_emb.inv_freq", "embeddings.position_ids"})
            files.add(name);
        if (folder != std::string("vit")) files.add("pre_classifier.bias");
        files.add("counter", "I64");
        files.add("mask", "BOOL");
        files.add("empty", "F32", 0);
        CHECK(problem_of(files) == "");
    }
    const std::pair<const char*, std::string> own[] = {
        {"gpt2", "transformer.h.0.attn.bias"},
        {"gpt_neox", "gpt_neox.layers.1.attention.masked_bias"},
        {"bert", "bert.pooler.dense.bias"},
        {"bert", "cls.seq_relationship.weight"},
        {"bart", "encoder.version"},
        {"marian", "model.encoder.embed_positions.weight"},
        {"vit", "vit.embeddings.mask_token"},
        {"t5", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}};
    for (const auto& row : own) {
        CAPTURE(row.second);
        Checkpoint files = Checkpoint::of(row.first), other = Checkpoint::of("llama");
        files.add(row.second);
        CHECK(problem_of(files) == "");
        other.add("model.layers.0.x." + row.second);
        CHECK(problem_of(other) != "");
    }
}

TEST_CASE("a tied tensor opens under any of its names, and under all of them") {
    for (const Tied& tied : kTied) {
        CAPTURE(tied.folder);
        const Checkpoint files = Checkpoint::of(tied.folder);
        const auto expected = pass_of(*files.open());
        Checkpoint all = files;
        for (const char* other : tied.others) {
            CAPTURE(other);
            Checkpoint renamed = files;
            renamed.rename(tied.stored, other);
            check_opens_as(renamed, expected);
            all.tensors[other] = files.tensors.at(tied.stored);
        }
        check_opens_as(all, expected);
        const auto model = *all.open();
        CHECK((model->config.tied_unembedding && model->config.shared_embedding));
    }
}

TEST_CASE("GPT-NeoX's unembedding has two names") {
    Checkpoint files = Checkpoint::of("gpt_neox");
    const auto expected = pass_of(*files.open());
    files.rename("embed_out.weight", "lm_head.weight");
    check_opens_as(files, expected);
}

TEST_CASE("a differing copy of a tied tensor is used under its own name") {
    for (const Tied& tied : kTied) {
        CAPTURE(tied.folder);
        Checkpoint files = Checkpoint::of(tied.folder);
        const auto same = pass_of(*files.open());
        auto copy = files.tensors.at(tied.stored);
        copy.bytes[3] ^= '\x80';  // the sign of the first number, of token 0
        const std::string head = tied.others[0];
        files.tensors[head] = copy;
        for (const bool stated : {true, false}) {
            if (stated && tied.folder != std::string("t5")) files.config.erase("tie_word_embeddings");
            const auto model = files.open();
            REQUIRE(model);
            const auto got = pass_of(*model);
            for (const auto& row : got) {
                CAPTURE(row.first);
                CHECK((row.second == same.at(row.first)) == (row.first != "logits"));
            }
            if (head.ends_with("weight")) CHECK(!(*model)->config.tied_unembedding);
        }
    }
    Checkpoint files = Checkpoint::of("t5");
    const auto same = pass_of(*files.open());
    auto copy = files.tensors.at("shared.weight");
    for (size_t i = 3; i < copy.bytes.size(); i += 4) copy.bytes[i] ^= '\x80';  // every sign
    files.tensors["encoder.embed_tokens.weight"] = copy;
    const auto model = *files.open();
    CHECK(!model->config.shared_embedding);
    const auto got = pass_of(model);
    CHECK(got.at("encoder.0.hook_resid_pre") != same.at("encoder.0.hook_resid_pre"));
    CHECK(got.at("decoder.0.hook_resid_pre") == same.at("decoder.0.hook_resid_pre"));
}

TEST_CASE("if the tables of encoder and decoder differ, the one that the class lists first makes logits") {
    for (const auto& entry : {std::pair("bart", "decoder"), {"plbart", "encoder"}, {"mvp", "encoder"}}) {
        const char *type = entry.first, *first = entry.second;
        CAPTURE(type);
        Checkpoint files = Checkpoint::of("bart");
        files.config["model_type"] = type;
        files.rename("model.shared.weight", "model.encoder.embed_tokens.weight");
        auto copy = files.tensors.at("model.encoder.embed_tokens.weight");
        for (size_t i = 3; i < copy.bytes.size(); i += 8) copy.bytes[i] ^= '\x80';  // every other sign
        files.tensors["model.decoder.embed_tokens.weight"] = copy;
        Checkpoint stated = files;
        stated.tensors["lm_head.weight"] =
            files.tensors.at(std::string("model.") + first + ".embed_tokens.weight");
        check_opens_as(files, pass_of(*stated.open()));
    }
}

TEST_CASE("the head of GOT-OCR 2 is tied although its text part says it is not, unless the whole says so") {
    const Checkpoint text = Checkpoint::of("qwen2");
    const auto expected = pass_of(*text.open());
    Checkpoint files = text;
    files.config = {{"model_type", "got_ocr2"}, {"text_config", text.config}};
    files.config["text_config"]["tie_word_embeddings"] = false;
    check_opens_as(files, expected);
    files.config["tie_word_embeddings"] = false;
    const auto untied = files.open();
    REQUIRE(untied);
    CHECK(!(*untied)->has_logits());
}

TEST_CASE("float64 weights give the same bits as float32 ones") {
    for (const char* folder : kFolders) {
        if (folder == std::string("vit")) continue;
        CAPTURE(folder);
        Checkpoint files = Checkpoint::of(folder), norms = files;
        const auto expected = pass_of(*files.open());
        for (const auto& [name, t] : norms.tensors)
            if (t.shape.size() == 1) files.widen(name);
        check_opens_as(files, expected);
        for (const auto& [name, t] : norms.tensors)
            if (t.shape.size() != 1) files.widen(name);
        check_opens_as(files, expected);
    }
}

TEST_CASE("a folder without weights is refused by what it holds") {
    const Checkpoint files = Checkpoint::of("gpt2");
    for (const auto& [name, said] : {std::pair("adapter_model.safetensors", "merge_and_unload"),
                                     {"model.fp16.safetensors", "\"model.fp16.safetensors\""},
                                     {"pytorch_model.bin.index.json", "Python pickle"},
                                     {"README.md", "get the weights"}}) {
        const TemporaryFolder folder;
        files.write(folder.path);
        std::filesystem::rename(folder.path / "model.safetensors", folder.path / name);
        const auto model = Model::open(folder.path);
        REQUIRE(!model);
        CHECK_MESSAGE(says(model.error().message, said), model.error().message);
    }
}

TEST_CASE("missing and other files have errors without the advice to download again") {
    Checkpoint files = Checkpoint::of("gpt2");
    files.tensors.erase("transformer.wpe.weight");
    const std::string missing = problem_of(files);
    CHECK(says(missing, "has no tensor transformer.wpe.weight"));
    CHECK(says(missing, "transformer.h.0."));
    files.add("transformer.wpe.weight");
    const std::string shape = problem_of(files);
    CHECK(says(shape, "has the shape [3]"));
    files = Checkpoint::of("gpt2");
    auto& wpe = files.tensors.at("transformer.wpe.weight");
    wpe.dtype = "I32";
    const std::string type = problem_of(files);
    CHECK(says(type, "an integer type"));
    for (const char* narrow : {"F8_E8M0", "F8_E4M3FNUZ"}) {
        wpe.dtype = narrow;
        wpe.bytes.resize(static_cast<size_t>(element_count(wpe.shape)));
        CHECK(says(problem_of(files), std::string("has dtype ") + narrow + ", which is not read as weights"));
    }
    for (const std::string& message : {missing, shape, type}) {
        CHECK(!says(message, "again"));
        CHECK(!says(message, "download"));
    }
}

TEST_CASE("sinks of another number than there are heads are refused, and missing ones") {
    Checkpoint files = Checkpoint::of("llama");
    files.config["model_type"] = "granite_swa";  // Llama's names, and sinks
    CHECK(says(problem_of(files), "has no tensor model.layers.0.self_attn.sinks"));
    for (int l = 0; l < 3; ++l) files.add("model.layers." + std::to_string(l) + ".self_attn.sinks", "F32", 4);
    CHECK(files.open());
    files.add("model.layers.1.self_attn.sinks", "F32", 5);
    CHECK(says(problem_of(files), "sinks has the shape [5]"));
}
