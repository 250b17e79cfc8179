#include "window/fetcher.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "base/check.h"
#include "panels/menus.h"

namespace headlight {

void Fetcher::update() {
    FetchState& state = desk_.session.of<FetchState>();
    if (std::exchange(state.cancel, false) && going_) going_->cancel();
    if (going_ && going_->ended()) take();
    if (state.request && !going_) begin();
    state.going = going_;  // also in a session that took the other's place
}

void Fetcher::begin() {
    FetchState& state = desk_.session.of<FetchState>();
    const FetchRequest request = *std::exchange(state.request, std::nullopt);
    state.said.clear();
    const Status begun = guarded([&] {
        going_ = std::make_shared<Fetching>(request, [] { glfwPostEmptyEvent(); });
        return success();
    });
    if (!begun) state.said = begun.error().message;
    desk_.want_frames(1);
}

void Fetcher::take() {
    FetchState& state = desk_.session.of<FetchState>();
    const auto ended = std::exchange(going_, nullptr);
    desk_.session.of<ModelMenu>().found_all = false;  // there is one more
    desk_.want_frames(1);
    const Result<Fetched>& fetched = ended->result();
    if (!fetched) {
        state.said = fetched.error().cancelled ? "" : fetched.error().message;
        const bool seen = desk_.session.shows(Sheet::models) || desk_.session.shows(Sheet::compared_models);
        if (!seen) desk_.session.notice = state.said;
        return;
    }
    state.typed.clear();
    if (!fetched->note.empty()) desk_.session.notice = fetched->note;
    state.fetched = model_key(fetched->path.string());
    state.name = ended->request().name.repository;
}

void Fetcher::close() {
    desk_.session.of<FetchState>().going.reset();
    going_.reset();
}

}  // namespace headlight
