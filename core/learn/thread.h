// Describes a thread: one token on its way through a block, step by step, and a story of some stops. A page
// holds all of them at once, so that going from one to the next computes nothing.
#pragma once

#include <string>
#include <vector>

#include "base/matrix.h"

namespace headlight::learn {

struct Thread {
    /// A vector as a row of cells.
    struct Strip {
        std::string sign;        // "k"
        int place = -1;          // of its token; −1: none
        std::string token = {};  // "ball"
        Vector values = {};
        std::string measure = {};  // at its right end: "35.53"
        bool bright = false;       // the one that the words speak of
        bool framed = false;       // the followed token's
        bool apart = false;        // begins a new group
    };
    /// Something of each of Thread::tokens, one below the other: heights, shares of 1, numbers, cells.
    struct Band {
        enum class Kind { heights, shares, numbers, cells } kind = Kind::heights;
        std::string name, under;         // "score", "÷ √32"
        std::vector<float> values = {};  // [tokens]; NaN: hidden by the mask
        Matrix cells = {};               // [entries, tokens]
        int digits = 1;
    };
    /// A bar with its name, 0 … 1.
    struct Bar {
        std::string name;
        float share = 0;
        std::string value, more = {};  // "98.9 %"; "18.42", "says ball"
        bool bright = false;
        std::vector<float> numbers = {};  // exact: Node::numbers_are
    };
    enum class Look { balance, shares, bar };
    struct Node {
        std::string name, gloss, measure;  // "softmax", "shares that sum to 1", "0.752"
        Vector strip = {};
        Look look = Look::balance;
        std::string title = {}, sentence = {};
        std::string door = {};     // the station that explains it
        std::string heading = {};  // above the right ends of the strips or bars
        std::vector<Strip> strips = {};
        std::vector<Band> bands = {};
        std::string worked_title = {};
        std::vector<std::string> worked = {};  // a computation: its first line in full, the last the result
        std::vector<Strip> below = {};         // strips of it
        std::vector<Bar> columns = {};         // upright bars
        std::string columns_are = {}, bars_are = {};
        std::vector<Bar> bars = {};
        std::vector<std::string> numbers_are = {};  // of bars and columns: "p", "logit"
    };

    std::string word, way;                 // "red"; "on its way through block 1, seen by head 1.2"
    std::vector<int> places = {};          // of the columns
    std::vector<std::string> tokens = {};  // their labels
    int query = 0, bright = -1;            // places of the followed token, and of the one it looks at
    bool crosses = false;                  // the columns are another text's tokens
    std::vector<Node> steps = {};          // twelve
    std::vector<Node> stops = {};          // of the story; one without a picture if there is none
    std::string question = {};             // "How did it know “ball”?"
    std::string promise = {};              // what the story finds, in a sentence
    bool told = false;                     // the story holds
    int shown = 1;                         // on a page: a step from 1 on, then the stops

    int count() const { return static_cast<int>(steps.size() + stops.size()); }
    const Node& node(int number) const {
        const auto at = static_cast<size_t>(number - 1);
        return at < steps.size() ? steps[at] : stops[at - steps.size()];
    }
};

}  // namespace headlight::learn
