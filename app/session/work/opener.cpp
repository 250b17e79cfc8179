#include "session/work/opener.h"

#include <algorithm>

#include "base/check.h"
#include "engine/open.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

/// Opens the model, or the trace with the model that it describes.
Result<std::shared_ptr<const Model>> open_wanted(Opening& o) {
    if (is_trace_file(o.path)) {
        TRY(o.trace, open_trace(o.path, &o.cancel));
        return o.trace->model;
    }
    TRY(auto model, open_any_model(o.path, &o.cancel, &o.progress, o.before));
    if (!model->engine && !model->config.can.read_image && !model->tokenizer) return model->tokenizer.error();
    return model;
}

}  // namespace

void Opener::hold(std::shared_ptr<Opening> opening) {
    std::lock_guard lock(mutex_);
    opening_ = std::move(opening);
}

void Opener::want(const std::string& path, uint64_t attempt, const std::shared_ptr<const Model>& open) {
    if (opening_ && opening_->path == path && opening_->attempt == attempt) return;
    give_up();
    auto opening = std::make_shared<Opening>();
    opening->path = path;
    opening->name = model_name(path);
    opening->attempt = attempt;
    opening->before = open;
    opening->thread = std::thread([this, o = opening.get()] {
        o->result = guarded([&] { return open_wanted(*o); });
        o->done = true;
        done_();
    });
    hold(std::move(opening));
}

void Opener::give_up() {
    abandoned_.erase(
        std::remove_if(abandoned_.begin(), abandoned_.end(), [](const auto& o) { return o->done.load(); }),
        abandoned_.end());
    if (!opening_) return;
    opening_->cancel = true;
    abandoned_.push_back(opening_);
    hold(nullptr);
}

std::shared_ptr<Opening> Opener::take() {
    opening_->thread.join();
    auto taken = opening_;
    hold(nullptr);
    return taken;
}

}  // namespace headlight
