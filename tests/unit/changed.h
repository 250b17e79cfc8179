// A run of a reference model with a person's changes.
#pragma once

#include "helpers.h"
#include "model/input.h"

namespace headlight {

inline const std::vector<int> kIds{5, 9, 200, 31, 5, 9, 77, 300, 12, 5};

inline std::shared_ptr<const Trace> changed(const std::shared_ptr<const Model>& model,
                                            const std::vector<std::string>& changes, ThreadPool& pool,
                                            const Trace* past = nullptr) {
    ForwardRequest request = request_of(kIds);
    if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4, 7, 9}).inputs[0]);
    for (const std::string& text : changes) {
        const auto change = parse_change(model->config, text);
        REQUIRE_MESSAGE(change, text);
        CHECK(change_name(model->config, *change) == text);
        request.intervention.changes.push_back(*change);
    }
    return *run_trace(model, request, pool, nullptr, past);
}

}  // namespace headlight
