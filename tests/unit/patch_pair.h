// Makes two runs to patch between, and requests on them.
#pragma once

#include "analysis/patching/patch.h"
#include "analysis/patching/patch_map.h"
#include "helpers.h"

namespace headlight {

/// Holds two runs that differ in their third token.
struct PatchPair {
    std::shared_ptr<const Model> model;
    std::shared_ptr<const Trace> clean, corrupted;

    PatchPair(const std::string& name, ThreadPool& pool) : model(reference_model(name)) {
        clean = run({5, 9, 200, 31, 5, 9}, pool);
        corrupted = run({5, 9, 77, 31, 5, 9}, pool);
    }
    std::shared_ptr<const Trace> run(std::vector<int> ids, ThreadPool& pool) const {
        ForwardRequest request = request_of(std::move(ids));
        if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4, 7}).inputs[0]);
        return *run_trace(model, request, pool);
    }
    /// Runs the corrupted text with a change that takes the clean run's values.
    std::shared_ptr<const Trace> patched_with(const std::string& change, ThreadPool& pool) const {
        ForwardRequest request = corrupted->request;
        Change patch = *parse_change(model->config, change);
        patch.pattern = std::make_shared<const Matrix>(patch_values(*clean, patch, pool));
        request.intervention.changes.push_back(std::move(patch));
        return *run_trace(model, request, pool, nullptr, corrupted.get());
    }
};

inline PatchRequest wanted_patch(PatchPart part, AttentionHead head = {}) {
    return {part, head, {MetricKind::difference, 9, 31, 5}};
}

}  // namespace headlight
