#include "window/fetcher.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "base/check.h"
#include "panels/menus.h"

namespace headlight {

void Fetcher::update() {
    FetchState& state = state_.session.of<FetchState>();
    if (std::exchange(state.cancel, false) && going_) going_->cancel();
    if (going_ && going_->ended()) take();
    if (state.request && !going_) begin();
    state.going = going_;  // also in a session that replaced the old one
}

void Fetcher::begin() {
    FetchState& state = state_.session.of<FetchState>();
    const FetchRequest request = *std::exchange(state.request, std::nullopt);
    state.error.clear();
    const Status begun = guarded([&] {
        going_ = std::make_shared<Fetching>(request, [] { glfwPostEmptyEvent(); });
        return success();
    });
    if (!begun) state.error = begun.error().message;
    state_.want_frames(1);
}

void Fetcher::take() {
    FetchState& state = state_.session.of<FetchState>();
    const auto ended = std::exchange(going_, nullptr);
    state_.session.of<ModelMenu>().found_all = false;  // a new model is there
    state_.want_frames(1);
    const Result<Fetched>& fetched = ended->result();
    if (!fetched) {
        state.error = fetched.error().cancelled ? "" : fetched.error().message;
        const bool seen = state_.session.shows(Sheet::models) || state_.session.shows(Sheet::compared_models);
        if (!seen) state_.session.notice = state.error;
        return;
    }
    state.typed.clear();
    if (!fetched->note.empty()) state_.session.notice = fetched->note;
    state.fetched = model_key(fetched->path.string());
    state.name = ended->request().name.repository;
}

void Fetcher::close() {
    state_.session.of<FetchState>().going.reset();
    going_.reset();
}

}  // namespace headlight
