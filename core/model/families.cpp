// Lists the model families.
#include "model/families.h"

namespace headlight {

std::span<const Family> families() {
    static const Family table[] = {
        kGpt2,    kGptNeox, kLlama,      kMistral, kQwen2,      kQwen3,   kGemma,      kGemma2,
        kPhi,     kOpt,     kBloom,      kBert,    kDistilBert, kRoberta, kXlmRoberta, kCamembert,
        kElectra, kAlbert,  kModernBert, kMarian,  kBart,       kT5,      kMt5,        kVit,
    };
    return table;
}

const Family* find_family(const std::string& model_type) {
    for (const Family& f : families())
        if (model_type == f.model_type) return &f;
    return nullptr;
}

std::string family_list() {
    std::string out;
    for (const Family& f : families()) out += (out.empty() ? "" : ", ") + std::string(f.name);
    return out;
}

}  // namespace headlight
