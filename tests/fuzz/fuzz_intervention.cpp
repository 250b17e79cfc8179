// Masks and changes as files and command lines give them: a JSON array is a mask's rows, anything else a
// name.
#include <cstdint>
#include <string>

#include "model/interventions/change.h"
#include "model/interventions/mask.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace headlight;
    static const ModelConfig config = [] {
        ModelConfig c;
        LayerSpec layer;
        layer.attention.heads = layer.attention.kv_heads = 4;
        c.stacks[0].layers.assign(4, layer);
        c.number_blocks();
        return c;
    }();
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (const auto mask = Mask::of_rows(text, "mask.json"))
        MaskPlan::make(*mask, {}, std::vector<int>(16, 0)).weight_range(0, 16);
    if (text.rfind("file:", 0) != 0) {
        if (const auto mask = Mask::parse(text))
            MaskPlan::make(*mask, {}, std::vector<int>(16, 0)).weight_range(0, 16);
        if (const auto change = parse_change(config, text)) change_name(config, *change);
    }
    return 0;
}
