#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analysis/corpus/corpus_file.h"

using namespace headlight;

/// A dossier that is opened again, and the lines of a corpus, from a file and as they come.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const ModelConfig config = [] {
        ModelConfig c;
        LayerSpec layer;
        layer.attention.heads = layer.attention.kv_heads = 1;
        c.stacks[0].layers.assign(1, layer);
        c.number_blocks();
        return c;
    }();
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto dossier = parse_dossier(text, "input", config))
        if (!parse_dossier(dossier_json(config, *dossier), "again", config)) __builtin_trap();
    for (const char* ending : {".txt", ".jsonl"}) {
        const std::string path = "/tmp/fuzz_corpus-" + std::to_string(getpid()) + ending;
        std::ofstream(path, std::ios::binary) << text;
        auto lines = CorpusLines::open(path), piped = CorpusLines::of(*open_stream(path), path);
        if (lines && !piped) __builtin_trap();
        for (int left = lines ? lines->count() : 0; left-- > 0;)
            if (lines->line()->text != piped->line()->text || !lines->advance() || !piped->advance())
                __builtin_trap();
        if (lines && (lines->line() || piped->line())) __builtin_trap();
        while (!lines && piped && piped->line() && piped->advance()) {
        }
        std::filesystem::remove(path);
    }
    return 0;
}
