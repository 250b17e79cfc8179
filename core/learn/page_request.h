// What the place Learn asks: a station's page of the run that is shown.
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

/// A station's page, or why there is none.
struct StationPage {
    std::shared_ptr<const learn::Page> page;  // null where there is none
    std::string missing;                      // then a sentence that says what helps
    std::optional<AttentionHead> first_head;  // the one that the station took where none was chosen
};

struct PageRequest {
    using Answer = StationPage;
    std::string station;             // its key
    std::vector<std::string> words;  // what was chosen there: learn::control_words()
    std::string text;                // as it was typed; empty: what the run's tokens spell
    int block = 0, head = 0;
    bool head_chosen = false;  // else the station takes the head that it begins with (Station::first_head)
    int query = -1;            // −1: the last
    void clamp_to(const Trace& trace);  // an unknown station becomes the first
    bool operator==(const PageRequest&) const = default;
};
Result<StationPage> answer_page(const Runs& runs, const PageRequest& request, ThreadPool& pool,
                                const CancelFlag* cancel);

}  // namespace headlight
