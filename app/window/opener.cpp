#include "window/opener.h"

#include <algorithm>

#include "model/library.h"
#include "trace/trace_file.h"

namespace headlight {

void Opener::hold(std::shared_ptr<Opening> opening) {
    std::lock_guard lock(mutex_);
    opening_ = std::move(opening);
}

void Opener::want(const std::string& path, uint64_t attempt) {
    if (opening_ && opening_->path == path && opening_->attempt == attempt) return;
    give_up();
    auto opening = std::make_shared<Opening>();
    opening->path = path;
    opening->name = model_name(path);
    opening->attempt = attempt;
    hold(opening);
    opening->thread = std::thread([this, o = opening.get()] {
        if (is_trace_file(o->path)) {
            const auto trace = open_trace(o->path);
            if (trace) o->trace = *trace;
            o->result = trace ? Result<std::shared_ptr<const Model>>((*trace)->model) : Result<std::shared_ptr<const Model>>(trace.error());
            o->done = true;
            return done_();
        }
        const auto found = find_model(o->path);
        o->result = found ? Model::open(*found, &o->cancel, &o->progress) : Result<std::shared_ptr<const Model>>(found.error());
        if (o->result && (*o->result)->config.kind != ModelKind::vision && !(*o->result)->tokenizer) o->result = Error{(*o->result)->tokenizer.error().message};
        o->done = true;
        done_();
    });
}

void Opener::give_up() {
    abandoned_.erase(std::remove_if(abandoned_.begin(), abandoned_.end(), [](const auto& o) { return o->done.load(); }), abandoned_.end());
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
