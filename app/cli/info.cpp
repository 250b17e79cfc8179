#include "cli/options.h"
#include "cli/verbs.h"
#include "io/json.h"
#include "model/parameters.h"

namespace headlight {

namespace {

constexpr const char* kActivationNames[] = {"gelu", "gelu (tanh form)", "relu"};

std::string grouped(int64_t value) {
    std::string out = std::to_string(value);
    for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) out.insert(static_cast<size_t>(at), ",");
    return out;
}

std::string as_json(const ModelConfig& c, const std::string& path) {
    auto table = nlohmann::ordered_json::array();
    for (const auto& row : parameter_table(c)) table.push_back({{"block", row.block}, {"shape", row.shape}, {"each", row.each}, {"count", row.count}, {"total", row.each * row.count}});
    const nlohmann::ordered_json out{{"path", path}, {"family", c.family}, {"layers", c.layers}, {"heads", c.heads}, {"d_model", c.d_model},
                                     {"d_head", c.d_head}, {"d_mlp", c.d_mlp}, {"vocab", c.vocab}, {"context", c.context}, {"norm_eps", c.norm_eps},
                                     {"activation", kActivationNames[static_cast<int>(c.activation)]}, {"causal", c.causal},
                                     {"tied_unembedding", c.tied_unembedding}, {"parameters", parameter_count(c)}, {"parameter_table", table}};
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_text(const ModelConfig& c, const std::string& path) {
    char line[200];
    std::string out = path + "\n" + c.family_name + " · " + std::to_string(c.layers) + " layers · " + std::to_string(c.heads) + " heads · d_model " +
                      std::to_string(c.d_model) + " · d_head " + std::to_string(c.d_head) + " · " + short_count(parameter_count(c)) + " parameters\n" +
                      "vocabulary " + grouped(c.vocab) + " · context " + grouped(c.context) + " tokens · " + kActivationNames[static_cast<int>(c.activation)] +
                      " · mask " + (c.causal ? "causal" : "none") + (c.tied_unembedding ? " · unembedding tied\n\n" : "\n\n");
    std::snprintf(line, sizeof line, "%-20s %-26s %14s %6s %16s\n", "block", "shape", "each", "times", "total");
    out += line;
    for (const auto& row : parameter_table(c)) {
        const int wide = 26 + static_cast<int>(row.shape.size()) - static_cast<int>(std::count_if(row.shape.begin(), row.shape.end(), [](char b) { return (b & 0xC0) != 0x80; }));
        std::snprintf(line, sizeof line, "%-20s %-*s %14s %6d %16s\n", row.block.c_str(), wide, row.shape.c_str(), grouped(row.each).c_str(), row.count, grouped(row.each * row.count).c_str());
        out += line;
    }
    std::snprintf(line, sizeof line, "%-20s %-26s %14s %6s %16s\n", "in all", "", "", "", grouped(parameter_count(c)).c_str());
    return out + line;
}

}  // namespace

std::function<Status()> declare_info(CLI::App& app) {
    struct Options {
        InputOptions input;
        bool json = false;
    };
    auto o = std::make_shared<Options>();
    add_model_option(app, o->input);
    app.add_flag("--json", o->json, "JSON instead of a table");
    return [o]() -> Status {
        TRY(const auto path, find_model(o->input.model));
        TRY(const ModelConfig config, read_config(path));
        return print(o->json ? as_json(config, path.string()) : as_text(config, path.string()));
    };
}

}  // namespace headlight
