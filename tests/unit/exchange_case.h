// Makes answers like the worker's.
#pragma once

#include <vector>

#include "helpers.h"
#include "session/work/work.h"

namespace headlight {

/// Makes the answer of a model that read a text.
inline WorkAnswer answer_of(const char* folder, const std::vector<int>& ids) {
    ThreadPool pool(1);
    WorkAnswer a;
    const auto model = reference_model(folder);
    static_cast<RunAnswer&>(a) =
        *answer_for({trace_of(model, ids, pool), nullptr, nullptr}, {1, 2}, {}, pool);
    a.model_path = "/models/some";
    a.open = {a.model_path, 0};
    return a;
}

/// Makes the answer of another model, opened under a path.
inline WorkAnswer opened_as(const char* path, uint64_t attempt) {
    WorkAnswer a = answer_of("llama", {5, 9, 200});
    a.model_path = path;
    a.model_attempt = attempt;
    a.open = {path, attempt};
    return a;
}

}  // namespace headlight
