// Longformer's windows (Beltagy et al. 2020), which LED's encoder has too.
#pragma once

#include "base/cast.h"
#include "model/families.h"

namespace headlight {

/// Reads how far a query sees to either side: half of one number, or of one for each layer.
inline void read_window_of_each(ConfigReader& r, StackConfig& s) {
    const Json* stated = json_find(r.root(), "attention_window");
    const Json all = stated ? *stated : Json(512), each = all.is_array() ? all : Json(Json::array());
    if (all.is_array() && each.size() != s.layers.size())
        r.fail(r.file() + ": \"attention_window\" must give one number, or one for each of the " +
               std::to_string(s.layers.size()) + " layers; correct the file.");
    for (size_t l = 0; l < s.layers.size(); ++l) {
        Json one{{"attention_window", l < each.size() ? each[l] : all.is_array() ? Json(512) : all}};
        const int64_t window =
            r.keep(json_integer(one, "attention_window", 512, 2, 1 << 24, r.file()), int64_t{2});
        if (window % 2) r.fail(r.file() + ": an odd \"attention_window\" has no halves; correct the file.");
        s.layers[l].attention.window = narrow<int>(window / 2 + 1);
    }
}

}  // namespace headlight
