// Writes a self-contained, interactive page: every head's pattern with its numbers, read and
// drawn by the scripts of assets/page. It loads nothing, sends nothing, and runs no script but its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/prediction/lens.h"
#include "figure/page/page_figure.h"
#include "trace/trace.h"

namespace headlight {

struct PageContents {
    const Trace* trace = nullptr;  // null: figures alone
    std::string title;
    std::string view = "head";     // head, heads, lines, text, lens, compare, report; or of a figure its key
    int block = 0, head = 0;       // shown first
    int locked = -1;               // a query of that block, or −1
    const Trace* other = nullptr;  // compared, of the same blocks
    std::string name, other_name;
    std::map<std::string, std::string> names;  // given by the user to heads: "1.2" → "induction"
    std::optional<Lens> lens;
    std::vector<PageFigure> figures;  // views beside those, each under a name of its own
    bool exact = false;               // keeps weights in 32 bits
    std::string report;               // markup of the view "report", which reads without scripts too
};

/// Makes the page. Unless they are exact, weights are rounded to 1/32767 of the largest of their head, in
/// long texts to 1/1000; the page says how far they are off. Fails if `cancel` was set.
Result<std::string> page_html(const PageContents& contents, ThreadPool& pool,
                              const CancelFlag* cancel = nullptr);

/// Holds what a page needs to compute by itself.
struct LiveModel {
    struct File {
        std::string name, bytes;  // "config.json"
    };
    std::vector<File> files;
    bool rounded = false;  // weights are in eight bits
    std::string text;      // typed first
    std::string weights;   // how they are stored, for the reader: "Weights are exact."
};

/// Makes a page in which the reader types, and every head is computed again: by the engine of assets/live,
/// from these files. It opens on `contents`, a run of the same files.
Result<std::string> live_page_html(const PageContents& contents, const LiveModel& model, ThreadPool& pool,
                                   const CancelFlag* cancel = nullptr);

}  // namespace headlight
