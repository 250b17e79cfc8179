// Parses values of options: lists, sizes, layers.
#include <cstdio>

#include "base/cast.h"
#include "base/quoted.h"
#include "cli/options.h"
#include "model/heads.h"

namespace headlight {

std::vector<std::string> comma_list(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

Result<std::pair<int, int>> parse_size(const std::string& text) {
    int width = 0, height = 0, used = 0;
    if (std::sscanf(text.c_str(), "%dx%d%n", &width, &height, &used) != 2 || used != isize(text) ||
        width < 16 || height < 16 || width > 30000 || height > 30000)
        return Error{"The size " + in_quotes(text) +
                     " is not usable; write WIDTHxHEIGHT in pixels, 1600x1000 for example."};
    return std::pair{width, height};
}

Result<int> parse_block(const ModelConfig& config, const std::string& text) {
    const std::string wanted =
        config.stacks.size() > 1 && text.find('.') == std::string::npos ? "decoder." + text : text;
    for (int block = 0; block < config.blocks(); ++block)
        if (block_path(config, block) == wanted) return block;
    return Error{"There is no layer " + in_quotes(text) + ": the layers are " + block_path(config, 0) +
                 " … " + block_path(config, config.blocks() - 1) + "; correct --layer."};
}

}  // namespace headlight
