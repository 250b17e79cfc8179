// Finds the prefix that a wrapper added to tensor names.
#include "model/loading/foreign_prefix.h"

#include <algorithm>

#include "base/quoted.h"

namespace headlight {

std::string foreign_prefix(const std::vector<std::string>& stored, const std::vector<std::string>& asked) {
    for (const std::string& name : asked)
        for (const std::string& other : stored)
            if (other.size() > name.size() && other.ends_with("." + name))
                return other.substr(0, other.size() - name.size());
    return "";
}

std::string wrapped_names(const std::vector<std::string>& stored, const std::string& prefix) {
    const bool adapted = std::any_of(stored.begin(), stored.end(), [](const std::string& name) {
        return name.find(".lora_A.") != std::string::npos;
    });
    if (adapted)
        return "it holds adapters beside the weights (lora_A); merge them into the model first, in Python "
               "with peft: model.merge_and_unload().save_pretrained(folder).";
    const bool every = std::all_of(stored.begin(), stored.end(),
                                   [&](const std::string& name) { return name.starts_with(prefix); });
    return std::string(every ? "every tensor's name begins" : "tensors' names begin") + " with " +
           in_quotes(shortened(prefix)) +
           ", which a program that wrapped the model put there; take it off, in Python with "
           "safetensors.torch: save_file({k.removeprefix(" +
           in_quotes(shortened(prefix)) + "): v for k, v in load_file(path).items()}, path).";
}

}  // namespace headlight
