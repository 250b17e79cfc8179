// Reconstructs the heads of a dossier.
#include "analysis/corpus/dossier_heads.h"

#include <algorithm>
#include <cstring>

#include "base/cast.h"
#include "base/quoted.h"
#include "io/json.h"
#include "io/mapped_file.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

constexpr int kMaxNumber = 1 << 12;  // maximum number of a layer or a head

/// Counts layers and heads of the blocks of one kind; all their layers have the same heads.
struct HeadCounts {
    int layers = 0, heads = 0;
};

/// Names "encoder.0.2": kind "encoder", layer 0, head 2; "0.2": of the only kind.
struct NamedHead {
    std::string kind;
    int layer = 0, head = 0;
};

Result<NamedHead> read_head(const std::string& path, const std::string& name) {
    NamedHead out;
    std::string numbers = path;
    if (const size_t dot = path.find('.');
        dot != std::string::npos && path.find('.', dot + 1) != std::string::npos) {
        out.kind = path.substr(0, dot);
        numbers = path.substr(dot + 1);
    }
    int used = 0;
    const bool read = std::sscanf(numbers.c_str(), "%4d.%4d%n", &out.layer, &out.head, &used) == 2 &&
                      used == isize(numbers) && out.layer >= 0 && out.head >= 0;
    const bool known =
        out.kind.empty() || out.kind == "encoder" || out.kind == "decoder" || out.kind == "cross";
    if (!read || !known || std::max(out.layer, out.head) >= kMaxNumber)
        return Error{name + " names a head " + in_quotes(shortened(path, 40)) +
                     ", which does not exist; write the dossier again."};
    return out;
}

struct HeadBlocks {
    HeadCounts only, encoder, decoder, cross;

    HeadCounts& of(const std::string& kind) {
        return kind.empty() ? only : kind == "encoder" ? encoder : kind == "decoder" ? decoder : cross;
    }
    bool two() const { return encoder.layers > 0; }
    int64_t count() const {
        int64_t out = 0;
        for (const HeadCounts& c : {only, encoder, decoder, cross}) out += int64_t{c.layers} * c.heads;
        return out;
    }
};

Result<HeadBlocks> blocks_of(const Json& heads, const std::string& name) {
    HeadBlocks out;
    for (const Json& head : heads) {
        TRY(const std::string path, json_string(head, "head", "", name));
        TRY(const NamedHead named, read_head(path, name));
        HeadCounts& counts = out.of(named.kind);
        counts.layers = std::max(counts.layers, named.layer + 1);
        counts.heads = std::max(counts.heads, named.head + 1);
    }
    if (heads.empty() || out.count() != isize(heads))
        return Error{
            name +
            " is about some of the model's heads alone; it can be read as numbers, and a page is made of a "
            "dossier of all heads."};
    return out;
}

nlohmann::ordered_json stack_json(const char* name, const HeadCounts& counts, bool causal, bool cross) {
    return {{"name", name},          {"layers", counts.layers},
            {"heads", counts.heads}, {"kv_heads", counts.heads},
            {"d_head", 1},           {"causal", causal},
            {"cross", cross},        {"windows", std::vector<int>(counts.layers, 0)}};
}

/// Builds a trace file in memory, with patterns of one query and one key.
struct BareTrace {
    nlohmann::ordered_json header, config;
    std::vector<float> weights;

    void add(const std::string& stack, const char* attention, const HeadCounts& counts) {
        for (int layer = 0; layer < counts.layers; ++layer) {
            const size_t begin = weights.size() * sizeof(float);
            weights.resize(weights.size() + size_t(counts.heads), 1.0f);
            header[stack + "." + std::to_string(layer) + "." + attention + ".hook_pattern"] = {
                {"dtype", "F32"},
                {"shape", {counts.heads, 1, 1}},
                {"data_offsets", {begin, weights.size() * sizeof(float)}}};
        }
    }
    std::string bytes(const std::string& model) const {
        nlohmann::ordered_json whole = header;
        whole["__metadata__"] = {{"format", "headlight-trace"},
                                 {"version", "1"},
                                 {"model", model},
                                 {"mask", "own"},
                                 {"tokens", "[\"\"]"},
                                 {"decoder_tokens", "[\"\"]"},
                                 {"config", json_text(config)}};
        std::string text = json_text(whole);
        text.resize((text.size() + 7) / 8 * 8, ' ');
        const uint64_t length = text.size();
        std::string out(sizeof length, '\0');
        std::memcpy(out.data(), &length, sizeof length);
        out += text;
        out.append(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float));
        return out;
    }
};

BareTrace bare_trace(const HeadBlocks& blocks) {
    BareTrace out;
    out.config = {
        {"kind", blocks.two() ? "encoder_decoder" : "decoder"}, {"family", "dossier"}, {"d_model", 1}};
    if (!blocks.two()) {
        out.config["stacks"] =
            nlohmann::ordered_json::array({stack_json("blocks", blocks.only, true, false)});
        out.add("blocks", "attn", blocks.only);
        return out;
    }
    out.config["stacks"] = nlohmann::ordered_json::array({stack_json("encoder", blocks.encoder, false, false),
                                                          stack_json("decoder", blocks.decoder, true, true)});
    out.add("encoder", "attn", blocks.encoder);
    out.add("decoder", "attn", blocks.decoder);
    out.add("decoder", "cross_attn", blocks.cross);
    return out;
}

}  // namespace

Result<std::shared_ptr<const Trace>> trace_of_dossier(const std::string& file) {
    const std::string name = display_path(file);
    TRY(const auto mapped, MappedFile::open(file));
    TRY(const Json root, parse_json(mapped->text(), name));
    TRY(const Json heads, json_list(root, "heads", name));
    TRY(const std::string model, json_string(root, "model", "", name));
    TRY(const HeadBlocks blocks, blocks_of(heads, name));
    const std::string bytes = bare_trace(blocks).bytes(model);
    return parse_trace(std::as_bytes(std::span(bytes)), name);
}

}  // namespace headlight
