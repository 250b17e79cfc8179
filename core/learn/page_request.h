// Requests a station's page of the shown run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"

namespace headlight {

namespace learn {
struct Page;
}

/// Holds a station's page, or why there is none.
struct StationPage {
    std::shared_ptr<const learn::Page> page;  // null if there is none
    std::string missing;                      // then a sentence with a remedy
    AttentionHead head;                       // that it shows
    bool head_found = false;                  // by the station, because the user selected none
    bool has_head = false;                    // the station shows one
};

struct PageRequest {
    using Answer = StationPage;
    std::string station;             // its key
    std::vector<std::string> words;  // settings there: learn::control_words()
    std::string text;                // as typed; empty: the text of the run's tokens
    int block = 0, head = 0;
    bool head_chosen = false;           // else the station chooses the head (Station::first_head)
    int query = -1;                     // −1: the last
    void clamp_to(const Trace& trace);  // an unknown station becomes the first
    bool operator==(const PageRequest&) const = default;
};
Result<StationPage> answer_page(const Runs& runs, const PageRequest& request, ThreadPool& pool,
                                const CancelFlag* cancel);

}  // namespace headlight
