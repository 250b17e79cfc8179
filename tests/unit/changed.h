// Runs a reference model, or the story model, under a user's changes; measures how far results differ.
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

/// Runs a reference model on kIds; an encoder–decoder's decoder on the first seven.
inline std::shared_ptr<const Trace> any_trace(const std::string& name, ThreadPool& pool) {
    const auto model = reference_model(name);
    ForwardRequest request;
    for (size_t i = 0; i < model->config.stacks.size(); ++i) {
        Sequence s{kIds, {}, {}, nullptr};
        if (i) s.ids.resize(7);
        s.tokens.resize(s.ids.size());
        request.inputs.push_back(std::move(s));
    }
    return *run_trace(model, std::move(request), pool);
}

inline const std::shared_ptr<const Model>& story_model() {
    static const auto model = *Model::open(kTests.parent_path() / "models/stories");
    return model;
}

inline std::shared_ptr<const Trace> run_story(const std::string& text, ThreadPool& pool) {
    TextInput typed;
    typed.text = text;
    return *run_trace(story_model(), {encode_input(*story_model(), typed)->sequences, {}}, pool);
}

inline float most_apart(const Matrix& a, const Matrix& b) {
    REQUIRE((a.rows() == b.rows() && a.cols() == b.cols()));
    return (a - b).cwiseAbs().maxCoeff();
}

}  // namespace headlight
