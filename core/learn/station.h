// Defines a station of Learn: a state that the user changes, and a page computed from it and the open
// sentence. To add one, write a file of its own and a row in stations.cpp; its texts are in
// assets/learn.json.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cast.h"
#include "base/result.h"
#include "base/threads.h"
#include "learn/page.h"
#include "trace/trace.h"

namespace headlight::learn {

/// Visits the controls of a station. The window makes a widget of each, the command line reads `--set
/// KEY=VALUE`, workspaces store it under its key.
class ControlVisitor {
public:
    virtual ~ControlVisitor() = default;
    /// Chooses among some words, by index.
    virtual void choice(const char* key, const char* label, int& place,
                        std::span<const char* const> words) = 0;
    virtual void flag(const char* key, const char* label, bool& value) = 0;
    virtual void number(const char* key, const char* label, float& value, float low, float high) = 0;
    virtual void whole(const char* key, const char* label, int& value, int low, int high) = 0;
    /// Is an integer that Play runs through, from low to high.
    virtual void played(const char* key, const char* label, int& value, int low, int high) {
        whole(key, label, value, low, high);
    }
    virtual void text(const char* key, const char* label, std::string& value) = 0;
    /// Holds numbers edited in the Grid whose `editable` is the key, row by row. Empty: the station's own.
    virtual void numbers(const char* key, std::vector<float>& values) = 0;

    /// Chooses an enum by its index among the words.
    template <class Enum>
    void choose(const char* key, const char* label, Enum& value, std::span<const char* const> words) {
        auto place = static_cast<int>(value);
        choice(key, label, place, words);
        value = static_cast<Enum>(place);
    }
};

/// Holds what is open while a station is shown. A station explains in a Words block what it lacks, or fails
/// with one sentence if it can show nothing without it.
struct StationInput {
    const Trace* trace = nullptr;                     // of the sentence in the open model; null: none is open
    const Model* model = nullptr;                     // the trace's, or a model without a sentence
    std::string text;                                 // as typed
    std::shared_ptr<const RgbImage> image = nullptr;  // the user's image, whatever the model reads
    int block = 0, head = 0;                          // selected head (ModelConfig::block)
    int query = -1;                                   // selected query; −1: the last
    const CancelFlag* cancel = nullptr;
    std::any ground = {};  // of the station's first head (TellingCell)

    int query_of(int count) const { return query < 0 || query >= count ? count - 1 : query; }
};

/// A head and a query on which a station shows what it is about.
struct TellingCell {
    AttentionHead head;
    int query = -1;        // −1: the last
    std::any ground = {};  // what the measure found there, for the page
};

/// Returns the head and query that a station begins with, by its own measure on the text; of the `chosen`
/// head, if the user selected one, the query. None: what is shown elsewhere.
using FirstHead = std::optional<TellingCell> (*)(const Trace& trace, std::optional<AttentionHead> chosen,
                                                 ThreadPool& pool);

/// Returns the head and query of a page: those named by the user, else the station's own.
struct StationStart {
    TellingCell cell;
    bool found = false;  // the head is the station's choice
};

struct Station {
    const char* key;
    const char* opens;          // model that it opens if none was named; "": none
    FirstHead first_head;       // null: shows none
    std::any (*first_state)();  // the state on first entry
    void (*visit)(std::any& state, ControlVisitor& visitor);
    Result<Page> (*compute)(const StationInput& input, const std::any& state, ThreadPool& pool);
    /// Returns what to ask about a computed page, from its numbers.
    Result<std::vector<PageQuestion>> (*ask)(const StationInput& input, const std::any& state,
                                             const Page& page, ThreadPool& pool);
    const char* display_control = "";  // only chooses among what a page holds: setting it asks for no page
};

/// Makes a row from a station's function, which takes its state: plain data with `visit(ControlVisitor&)`,
/// and from the function that asks about its page, or null.
template <class State>
using PageOf = Result<Page> (*)(const StationInput& input, const State& state, ThreadPool& pool);
template <class State>
using QuestionsOf = Result<std::vector<PageQuestion>> (*)(const StationInput& input, const State& state,
                                                          const Page& page, ThreadPool& pool);

template <class State, PageOf<State> Compute, QuestionsOf<State> Ask = nullptr>
constexpr Station station(const char* key, const char* opens, FirstHead first_head = nullptr,
                          const char* display_control = "") {
    return {key,
            opens,
            first_head,
            [] { return std::any(State()); },
            [](std::any& state, ControlVisitor& visitor) { std::any_cast<State&>(state).visit(visitor); },
            [](const StationInput& input, const std::any& state, ThreadPool& pool) {
                return Compute(input, std::any_cast<const State&>(state), pool);
            },
            [](const StationInput& input, const std::any& state, const Page& page,
               ThreadPool& pool) -> Result<std::vector<PageQuestion>> {
                if constexpr (Ask != nullptr)
                    return Ask(input, std::any_cast<const State&>(state), page, pool);
                else
                    return std::vector<PageQuestion>();
            },
            display_control};
}

/// Returns where a station begins on a text: `chosen` and `query` (−1: none) are the user's.
StationStart station_start(const Station& station, const Trace& trace, std::optional<AttentionHead> chosen,
                           int query, ThreadPool& pool);

/// Lists the stations in order: the only place to add one.
std::span<const Station> stations();
const Station* find_station(std::string_view key);

struct Try {
    std::string label, command;
};
/// Holds a station's texts, from assets/learn.json.
struct StationText {
    std::string title, text, sample;  // text: under sixty words; sample: the sentence if none was typed
    std::vector<Symbol> symbols;
    std::map<std::string, std::string> controls;  // a sentence on each control, by its key
    std::vector<Try> tries;
    int minutes = 5;  // that it takes a reader
};
const StationText& station_text(std::string_view key);

/// Computes the page of a station, with its questions and symbols.
Result<Page> station_page(const Station& station, const StationInput& input, const std::any& state,
                          ThreadPool& pool);

}  // namespace headlight::learn
