// Draws random acts on a document.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "base/cast.h"
#include "window/commands.h"

namespace headlight {

inline constexpr const char* kPaths[] = {"/m/gpt2",  "/m/bert", "/m/vit",     "/m/translator",
                                         "/m/trace", "/gone",   "/m/./gpt2/", "/m/../m/bert"};

/// Draws acts; the same seed draws the same.
class Hand {
public:
    explicit Hand(unsigned seed) : random_(seed) {}
    std::vector<std::string> acts(int count) {
        std::vector<std::string> out{"come"};
        while (isize(out) < count) out.push_back(act());
        return out;
    }

private:
    int below(int n) { return int(random_() % unsigned(n)); }
    template <size_t N>
    std::string one_of(const char* const (&all)[N]) {
        return all[below(int(N))];
    }
    std::string act() {
        static constexpr const char* kEdits[] = {"text A dog ran",
                                                 "text",
                                                 "text sample:shapes",
                                                 "second Ein Hund",
                                                 "second",
                                                 "compare text A cat",
                                                 "mask window:2",
                                                 "mask none",
                                                 "mask own",
                                                 "mask 2>1@0.1",
                                                 "ablate 0.1:mean",
                                                 "ablate encoder.0.1",
                                                 "temperature 0.3@0.0",
                                                 "score 2>1@0.1=1.7",
                                                 "freeze 0.1=A dog",
                                                 "patch-resid 1@0=A cat",
                                                 "skip-mlp 0",
                                                 "remove interventions",
                                                 "metric kl",
                                                 "metric logit dog",
                                                 "metric default",
                                                 "compare sentences",
                                                 "compare heads",
                                                 "compare 1.0",
                                                 "compare model /m/bert",
                                                 "compare model /m/./bert",
                                                 "align by position",
                                                 "tie 1,2",
                                                 "seed 7",
                                                 "seed 9",
                                                 "beams 3",
                                                 "length 9",
                                                 "example 0",
                                                 "try mask none",
                                                 "try text A b; head 0.1",
                                                 "try mask causal; undo",
                                                 "learn set heads=4",
                                                 "try learn reset",
                                                 "try do undo"};
        switch (below(16)) {
            case 0:
            case 1:
                return "open " + one_of(kPaths);
            case 2:
            case 3:
            case 4:
                return "come";
            case 5:
                return std::string("type ") + "ab "[below(3)];
            case 6:
            case 7:
                return "undo";
            case 8:
                return below(2) ? "redo" : "step " + std::to_string(below(12));
            case 9:
                return one_of({"save", "reopen", "missing"});
            case 10:
                return below(3) ? "keep" : below(2) ? "kill" : "stay";
            case 11:
                return "slide " + std::to_string(1 + below(3));
            case 12:
                return "do " + any_command();
            default:
                return "do " + one_of(kEdits);
        }
    }
    /// Draws a row of the table with valid words; none that reaches beyond the session.
    std::string any_command() {
        static constexpr const char* kBeyond[] = {
            "open",   "switch", "fetch", "undo",   "redo",   "slide", "history", "save", "accept",
            "browse", "corpus", "read",  "cancel", "preset", "quit",  "try",     "do",   "model config"};
        static constexpr const char* kWords[] = {"0.1",     "1.0",   "1,0", "2", "0",
                                                 "heads=4", "A dog", "1>0", "on"};
        const auto table = commands();
        for (;;) {
            const Command& row = table[below(isize(table))];
            const bool beyond = std::any_of(std::begin(kBeyond), std::end(kBeyond), [&](const char* name) {
                return row.name == name || row.name.starts_with(std::string(name) + " ");
            });
            if (beyond) continue;
            const auto choices = row.choices();
            if (!row.takes_words()) return row.name;
            return row.name + " " +
                   (choices.empty() || below(3) == 0 ? one_of(kWords) : choices[below(isize(choices))]);
        }
    }

    std::mt19937 random_;
};

}  // namespace headlight
