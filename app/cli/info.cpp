#include <CLI/CLI.hpp>

#include "base/cast.h"
#include "base/memory.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "hub/adapted.h"
#include "hub/library.h"
#include "io/json.h"
#include "model/activation.h"
#include "model/loading/parameter_counts.h"
#include "model/loading/weights_text.h"
#include "model/position_scheme.h"

namespace headlight {

namespace {

std::string mask_name(const ModelConfig& c) {
    const StackConfig& s = c.decoder();
    int window = 0;
    for (const LayerSpec& layer : s.layers) window = std::max(window, layer.attention.window);
    return std::string(s.causal ? "causal" : "none") + (window ? ", window " + std::to_string(window) : "");
}

nlohmann::ordered_json counts_json(const ModelConfig& c) {
    auto out = nlohmann::ordered_json::array();
    for (const NamedCount& count : named_counts(c)) {
        out.push_back(
            {{"name", count.name}, {"of", count.of}, {"matrices", count.matrices}, {"all", count.all}});
        if (count.shares) out.back()["share"] = share_of(count, c);
    }
    return out;
}

nlohmann::ordered_json parameters_json(const ModelConfig& c) {
    auto out = nlohmann::ordered_json::array();
    for (const auto& row : parameter_table(c))
        out.push_back({{"block", row.block},
                       {"shape", row.shape},
                       {"each", row.each},
                       {"count", row.count},
                       {"total", row.each * row.count}});
    return out;
}

/// Returns one number, or all of them if they differ.
nlohmann::ordered_json one_or_all(const std::vector<nlohmann::ordered_json>& all) {
    const bool equal = std::all_of(all.begin(), all.end(), [&](const auto& each) { return each == all[0]; });
    return equal ? all[0] : nlohmann::ordered_json(all);
}

/// Returns a size of a stack's layers: one number, or one for each layer if they differ.
template <class Size>
nlohmann::ordered_json of_layers(const StackConfig& stack, const Size& size) {
    std::vector<nlohmann::ordered_json> all;
    for (const LayerSpec& layer : stack.layers) all.emplace_back(size(layer));
    return one_or_all(all);
}

nlohmann::ordered_json of_attention(const StackConfig& stack, int AttentionSpec::*size) {
    return of_layers(stack, [size](const LayerSpec& layer) { return layer.attention.*size; });
}

nlohmann::ordered_json stacks_json(const ModelConfig& c) {
    auto out = nlohmann::ordered_json::array();
    for (const auto& stack : c.stacks) {
        auto windows = nlohmann::ordered_json::array();
        for (const LayerSpec& layer : stack.layers) windows.push_back(layer.attention.window);
        if (std::all_of(windows.begin(), windows.end(), [](const auto& w) { return w == 0; }))
            windows.clear();
        out.push_back(
            {{"name", stack.name},
             {"layers", stack.depth()},
             {"heads", of_attention(stack, &AttentionSpec::heads)},
             {"kv_heads", of_attention(stack, &AttentionSpec::kv_heads)},
             {"d_head", of_attention(stack, &AttentionSpec::d_head)},
             {"d_mlp", of_layers(stack, [](const LayerSpec& layer) { return layer.mlp.width; })},
             {"experts",
              of_layers(stack, [](const LayerSpec& l) { return l.mlp.experts ? l.mlp.experts->count : 0; })},
             {"vocab", stack.vocab},
             {"causal", stack.causal},
             {"cross_attention", stack.cross()},
             {"windows", windows}});
    }
    return out;
}

/// Returns one number, or one per stack if they differ.
nlohmann::ordered_json of_stacks(const ModelConfig& c, int AttentionSpec::*size) {
    std::vector<nlohmann::ordered_json> all;
    for (const StackConfig& stack : c.stacks) all.push_back(of_attention(stack, size));
    return one_or_all(all);
}

std::string as_json(const ModelConfig& c, const std::string& path, const nlohmann::ordered_json& stored) {
    const nlohmann::ordered_json out{
        {"path", path},
        {"family", c.family},
        {"layers", c.layers()},
        {"heads", of_stacks(c, &AttentionSpec::heads)},
        {"kv_heads", of_stacks(c, &AttentionSpec::kv_heads)},
        {"d_model", c.d_model},
        {"d_head", of_stacks(c, &AttentionSpec::d_head)},
        {"d_mlp", c.stacks[0].layers[0].mlp.width},
        {"vocab", c.vocab},
        {"context", c.context},
        {"norm", c.norm == NormKind::rms_norm ? "rms_norm" : "layer_norm"},
        {"norm_eps", c.norm_eps},
        {"activation", activation_row(c.stacks[0].layers[0].mlp.activation).name},
        {"positions", position_scheme(c.positions).name},
        {"causal", c.decoder().causal},
        {"tied_unembedding", c.tied_unembedding},
        {"stacks", stacks_json(c)},
        {"parameters", parameter_count(c)},
        {"parameter_table", parameters_json(c)},
        {"counts", counts_json(c)},
        {"stored", stored}};
    return json_answer(out);
}

std::string layers_text(const ModelConfig& c) {
    if (c.stacks.size() == 1) return std::to_string(c.layers()) + " layers";
    return std::to_string(c.stacks[0].depth()) + " encoder and " + std::to_string(c.stacks[1].depth()) +
           " decoder layers";
}

std::string heads_text(const ModelConfig& c) {
    const std::string shared =
        c.kv_heads(0) < c.heads(0) ? " (" + std::to_string(c.kv_heads(0)) + " key/value heads)" : "";
    const std::optional<ExpertsSpec>& experts = c.decoder().layers.back().mlp.experts;
    const std::string sparse =
        experts ? " · " + std::to_string(experts->used) + " of " + std::to_string(experts->count) + " experts"
                : "";
    return per_stack(c, &AttentionSpec::heads) + " heads" + shared + sparse;
}

std::string reads_text(const ModelConfig& c) {
    if (c.can.read_image && !c.vision.patch) return "images";
    if (c.can.read_image)
        return "images of " + std::to_string(c.vision.image) + " × " + std::to_string(c.vision.image) +
               " · patches of " + std::to_string(c.vision.patch) + " × " + std::to_string(c.vision.patch);
    return "vocabulary " + with_commas(c.vocab) + " · context " + with_commas(c.context) + " tokens";
}

/// Pads a text to a number of columns on a terminal.
std::string padded_to(int columns, const std::string& text) {
    const auto shown = std::count_if(text.begin(), text.end(), [](char b) { return (b & 0xC0) != 0x80; });
    return text + std::string(std::max<ptrdiff_t>(0, columns - shown), ' ');
}

std::string counts_text(const ModelConfig& c) {
    char line[300];
    std::snprintf(line, sizeof line, "%-38s%-30s%18s%18s%8s\n", "count", "of", "matrices", "with the rest",
                  "share");
    std::string out = line;
    for (const NamedCount& count : named_counts(c)) {
        std::snprintf(line, sizeof line, "%s%s%18s%18s%8s\n", padded_to(38, count.name).c_str(),
                      padded_to(30, count.of).c_str(),
                      (count.matrices ? with_commas(count.matrices) : "").c_str(),
                      with_commas(count.all).c_str(),
                      count.shares ? (decimals(100 * share_of(count, c), 1) + " %").c_str() : "");
        out += line;
    }
    return out +
           "matrices: no biases, norms or positions; shares are of all matrices, the "
           "unembedding counted even if it is tied to the embedding.\n";
}

std::string as_text(const ModelConfig& c, const std::string& path, const std::string& weights) {
    char line[200];
    std::string out = path + "\n" + c.family_name + " · " + layers_text(c) + " · " + heads_text(c) +
                      " · d_model " + std::to_string(c.d_model) + " · d_head " +
                      per_stack(c, &AttentionSpec::d_head) + " · " + short_count(parameter_count(c)) +
                      " parameters\n" + reads_text(c) + " · " +
                      activation_row(c.stacks[0].layers[0].mlp.activation).name + " · positions " +
                      position_scheme(c.positions).name + " · mask " + mask_name(c) +
                      (c.tied_unembedding ? " · unembedding tied\n" : "\n") + weights + "\n";
    std::snprintf(line, sizeof line, "%-28s %-26s %14s %6s %16s\n", "block", "shape", "each", "times",
                  "total");
    out += line;
    for (const auto& row : parameter_table(c)) {
        std::snprintf(line, sizeof line, "%-28s %s %14s %6d %16s\n", row.block.c_str(),
                      padded_to(26, row.shape).c_str(), with_commas(row.each).c_str(), row.count,
                      with_commas(row.each * row.count).c_str());
        out += line;
    }
    std::snprintf(line, sizeof line, "%-28s %-26s %14s %6s %16s\n", "total", "", "", "",
                  with_commas(parameter_count(c)).c_str());
    return out + line + "\n" + counts_text(c);
}

constexpr const char* kGpt3 = "gpt-3";

}  // namespace

std::function<Status()> declare_info(CLI::App& app) {
    struct Options {
        InputOptions input;
        std::string path;
        bool json = false;
    };
    auto o = std::make_shared<Options>();
    auto* model = add_model_option(app, o->input);
    app.add_option("CONFIG", o->path, "a config.json, a model as for --model, or 'gpt-3' (175B)")
        ->excludes(model);
    app.add_flag("--json", o->json, "JSON instead of a table");
    return [o]() -> Status {
        const std::string& named = o->path.empty() ? o->input.model : o->path;
        const ModelConfig& gpt3 = published_config(Published::gpt3);
        if (named == kGpt3)
            return o->json ? print_json(as_json(gpt3, kGpt3, {})) : print(as_text(gpt3, kGpt3, ""));
        TRY(const std::string spelled, with_adapter(named, o->path.empty() ? o->input.adapter : ""));
        TRY(const auto adapted, read_adapted(spelled));
        const auto model = open_model(spelled);
        if (adapted && !model) return model.error();
        TRY(const auto path, model ? Result<std::filesystem::path>((*model)->path) : find_model(named));
        TRY(const ModelConfig config, open_config(path));
        const Model* const open = model ? model->get() : nullptr;
        return o->json ? print_json(as_json(config, path.string(), open ? stored_json(*open) : nullptr))
                       : print(as_text(config, path.string(), open ? weights_text(*open) : ""));
    };
}

}  // namespace headlight
