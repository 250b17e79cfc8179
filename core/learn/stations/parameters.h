// Station "Counting parameters": of any configuration, GPT-3's too; a value matrix as two thin ones.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct ParametersState {
    enum class Of { gpt3, gpt2, transformer, open, own } of = Of::gpt3;
    int d_model = 256, layers = 4, heads = 8, d_head = 32, d_mlp = 1024, vocab = 4096;  // the user's own

    void visit(ControlVisitor& v);
};

Result<Page> parameters_page(const StationInput& input, const ParametersState& state, ThreadPool& pool);

}  // namespace headlight::learn
