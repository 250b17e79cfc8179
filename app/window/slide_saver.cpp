#include "window/slide_saver.h"

#include "panels/present.h"
#include "window/background_task.h"
#include "window/commands.h"

namespace headlight {

Status SlideSaver::show(int number) {
    turns_ = 0;
    measured_for_ = 0;
    CommandContext context{state_.session, state_.answer.get(), host_};
    return carry_out({&command_named(commands(), "slide go"), std::to_string(number + 1)}, context);
}

void SlideSaver::end(const std::string& notice) {
    SlidesPdf& job = state_.session.of<SlidesPdf>();
    job = {};
    pages_.clear();
    const int count = isize(state_.session.document.slides);
    if (before_ >= 0 && before_ < count && before_ != state_.session.slide) static_cast<void>(show(before_));
    state_.session.notice = notice;
    state_.want_frames(2);
}

/// Whether everything on the slide is computed, for some turns: what one frame asks for, the next one begins.
/// Measurements that take longer than a minute are drawn as far as they are.
bool SlideSaver::shows_whole_slide() {
    constexpr int kTurns = 3;
    constexpr double kEnough = 60;
    const Session& s = state_.session;
    const SlidesPdf& job = s.of<SlidesPdf>();
    const bool shown = state_.shown() && state_.answer->picture && !state_.worker->busy() &&
                       !state_.worker->opening() && !s.document.pending_slide && s.slide == job.next &&
                       state_.dim == 0;
    if (!shown) {
        turns_ = 0;
        return false;
    }
    if (state_.answer->measures()) {
        if (measured_for_ == 0) measured_for_ = glfwGetTime();
        if (glfwGetTime() - measured_for_ < kEnough) {
            turns_ = 0;
            return false;
        }
    }
    return ++turns_ > kTurns;
}

void SlideSaver::write() {
    const std::string path = state_.session.of<SlidesPdf>().path;
    writing_ = in_background([path, pages = std::move(pages_)] { return write_pdf(path, pages); });
    pages_.clear();
}

void SlideSaver::update() {
    SlidesPdf& job = state_.session.of<SlidesPdf>();
    if (job.path.empty()) return;
    state_.want_frames(2);  // this turn's, and one that ends the wait for events before the next turn
    const int count = isize(state_.session.document.slides);
    if (writing_.valid()) {
        if (writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
        const Status written = writing_.get();
        return end(written ? "Saved " + std::to_string(count) + (count == 1 ? " slide" : " slides") + " in " +
                                 job.path
                           : written.error().message);
    }
    if (job.next >= count) return end("The slides changed while they were saved; try again.");
    if (job.next < 0) {
        before_ = state_.session.slide;
        pages_.clear();
        job.next = 0;
        if (const Status done = show(0); !done) end(done.error().message);
        return;
    }
    if (!shows_whole_slide()) return;
    pages_.push_back(draw_slide_page(exporter_.page_to_save()));
    if (++job.next == count) return write();
    if (const Status done = show(job.next); !done) end(done.error().message);
}

}  // namespace headlight
