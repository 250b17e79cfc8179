// Runs work off the window's thread: saving, previews, looking for models.
#pragma once

#include <GLFW/glfw3.h>

#include <future>
#include <utility>

#include "base/check.h"

namespace headlight {

/// Runs work(), which returns a Result, on its own thread and wakes the window at its end. An exception, or a
/// thread that cannot start, becomes an error.
template <class Work>
auto in_background(Work work) -> std::future<decltype(work())> {
    using Done = decltype(work());
    try {
        return std::async(std::launch::async, [work = std::move(work)] {
            auto done = guarded(work);
            glfwPostEmptyEvent();
            return done;
        });
    } catch (...) {
        std::promise<Done> failed;
        failed.set_value(caught_error());
        return failed.get_future();
    }
}

}  // namespace headlight
