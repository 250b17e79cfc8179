// Tests parameter counts by name against published ones and against files.
#include "model/loading/parameter_counts.h"

#include "helpers.h"

using namespace headlight;

namespace {

const NamedCount& count_named(const std::vector<NamedCount>& counts, const std::string& name) {
    for (const NamedCount& count : counts)
        if (count.name == name) return count;
    FAIL("there is no count called " << name);
    return counts.front();
}

ModelConfig gpt2_of(int width, int layers, int heads) {
    return *parse_config(Json{{"model_type", "gpt2"},
                              {"n_embd", width},
                              {"n_layer", layers},
                              {"n_head", heads},
                              {"n_positions", 1024},
                              {"vocab_size", 50257}},
                         "config.json");
}

}  // namespace

TEST_CASE("counts: GPT-3 as published (Brown et al. 2020, table 2.1; 3Blue1Brown 2024)") {
    const ModelConfig& c = published_config(Published::gpt3);
    CHECK(c.layers() == 96);
    CHECK(c.heads(0) == 96);
    CHECK(c.d_head(0) == 128);
    const auto counts = named_counts(c);
    CHECK(count_named(counts, "W_Q of a head").matrices == 1'572'864);
    CHECK(count_named(counts, "W_V W_O as one matrix").matrices == 150'994'944);
    CHECK(count_named(counts, "one head").matrices == 6'291'456);
    CHECK(count_named(counts, "attention of a layer").matrices == 603'979'776);
    const NamedCount& attention = count_named(counts, "attention in all");
    CHECK(attention.matrices == 57'982'058'496);
    CHECK(share_of(attention, c) == doctest::Approx(0.331).epsilon(0.001));  // "a third"
    CHECK(count_named(counts, "MLP in all").matrices == 115'964'116'992);
    CHECK(count_named(counts, "the whole model, untied").matrices == 175'181'291'520);
    CHECK(count_named(counts, "the whole model, tied").matrices == 175'181'291'520 - 50257LL * 12288);
    // With biases: each of q, k and v has d_head, each layer's output d_model.
    CHECK(count_named(counts, "W_Q of a head").all == 1'572'864 + 128);
    CHECK(count_named(counts, "one head").all == 6'291'456 + 3 * 128);
    CHECK(count_named(counts, "attention of a layer").all == 603'979'776 + 4 * 12288);
    CHECK(attention.all == 57'982'058'496 + 96LL * 4 * 12288);
    CHECK(count_named(counts, "positions").all == 2048LL * 12288);
    CHECK(count_named(counts, "norms").all == (96LL * 4 + 2) * 12288);
}

TEST_CASE("counts: GPT-2 as published, tied and untied") {
    struct Published {
        int width, layers, heads;
        int64_t tied;
    };
    for (const Published& p :
         {Published{768, 12, 12, 124'439'808}, Published{1024, 24, 16, 354'823'168},
          Published{1280, 36, 20, 774'030'080}, Published{1600, 48, 25, 1'557'611'200}}) {
        const ModelConfig c = gpt2_of(p.width, p.layers, p.heads);
        const auto counts = named_counts(c);
        CHECK(count_named(counts, "the whole model, tied").all == p.tied);
        CHECK(count_named(counts, "the whole model, untied").all == p.tied + 50257LL * p.width);
        CHECK(parameter_count(c) == p.tied);
    }
}

TEST_CASE("counts: the parts of every reference model sum to its file's parameters") {
    for (const char* name :
         {"albert", "bart",         "bert",       "bloom", "distilbert", "electra",   "gemma2",
          "gemma4", "gpt2",         "gpt_neox",   "llama", "marian",     "mistral",   "modernbert",
          "opt",    "qwen3_5_text", "nemotron_h", "jamba", "lfm2",       "falcon_h1", "phi",
          "qwen2",  "qwen3",        "roberta",    "t5",    "vit",        "gemma3n"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        const ModelConfig& c = model->config;
        const auto counts = named_counts(c);
        const int64_t stored = model->store->parameters();
        int64_t parts = 0, shares = 0;
        bool whole = false;
        for (const NamedCount& count : counts) {
            if (count.shares || count.name == "positions" || count.name == "norms") parts += count.all;
            if (count.shares) shares += count.matrices;
            if (count.whole) CHECK(share_of(count, c) == 1);
            whole |= count.name.rfind("the whole model", 0) == 0 && count.all == stored;
        }
        const int64_t tied = c.tied_unembedding && unembeds(c) ? int64_t{c.vocab} * c.d_embed : 0;
        CHECK(whole);
        CHECK(parts - tied == stored);
        CHECK(shares == matrix_count(c).all());
    }
}
