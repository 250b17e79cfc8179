// Serves documents and tests: commands at the start, screenshots, frame times, reports.
#pragma once

#include <functional>
#include <vector>

#include "window/exporter.h"
#include "window/fetcher.h"
#include "window/frame.h"
#include "window/worker_link.h"

namespace headlight {

class Harness {
public:
    Harness(WindowState& state, Frame& frame, WorkerLink& worker_link, Exporter& exporter, Fetcher& fetcher,
            Palette& palette)
        : state_(state),
          frame_(frame),
          worker_link_(worker_link),
          exporter_(exporter),
          fetcher_(fetcher),
          palette_(palette) {
        if (state.options.report_texts || !state.options.list_texts.empty()) state.text.note_drawn();
    }

    /// Runs commands one after another, each when the result of the last one is there.
    void give(std::vector<CommandLine> lines) { lines_ = std::move(lines); }
    /// The next command if it is due, else null.
    const CommandLine* next_command();
    void take_command();

    /// Records the times of the frame begun at `began`, or takes the screenshot or measurement that was
    /// requested; true when all requests are done.
    Result<bool> after_frame(double began);

private:
    bool settled() const;
    bool quiet() const;
    bool measured_enough() const;
    bool gave_all() const { return taken_ == lines_.size(); }
    Result<bool> screenshot();
    Status take_screenshot();
    void list_texts();
    struct FrameTimes {
        double median, p95;  // seconds
    };
    /// Times consecutive frames; `before` is called at the beginning of each.
    FrameTimes measure_frames(const std::function<void(int)>& before);
    std::vector<ImVec2> places_to_point_at() const;
    void print_frame_times();
    void note_times(double began);
    void write_report();

    WindowState& state_;
    Frame& frame_;
    WorkerLink& worker_link_;
    Exporter& exporter_;
    Fetcher& fetcher_;
    Palette& palette_;
    std::vector<CommandLine> lines_;
    size_t taken_ = 0;
    bool was_settled_ = false;             // in the last frame
    double waits_since_ = 0;               // seconds from the start to the last command
    mutable double measuring_since_ = -1;  // seconds from the start; −1: nothing is measured
    std::string texts_;                    // as --list-texts writes them
    double first_picture_ = 0;             // seconds from the start to the first frame with a heat map on it
    std::vector<double> answers_,
        latencies_;                    // seconds from key press to the numbers, and to the finished frame
    size_t wrong_pixels_ = 0;          // of all frames
    std::vector<float> redrawn_;       // share of the window redrawn, by frame
    std::vector<double> frame_times_;  // seconds of each frame drawn, while a report is written
};

}  // namespace headlight
