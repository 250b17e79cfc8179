#include "analysis/corpus_file.h"

using namespace headlight;

/// A dossier that is opened again, and the lines of a corpus as they are read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const ModelConfig config = [] {
        ModelConfig c;
        c.stacks[0].layers = c.stacks[0].heads = c.stacks[0].kv_heads = 1;
        return c;
    }();
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto dossier = parse_dossier(text, "input", config))
        if (!parse_dossier(dossier_json(config, *dossier), "again", config)) __builtin_trap();
    for (const char* name : {"-", "-.jsonl"})
        if (auto lines = CorpusLines::of(text, name)) {
            int count = 0;
            for (; lines->line(); lines->advance()) ++count;
            if (count != lines->count()) __builtin_trap();
        }
    return 0;
}
