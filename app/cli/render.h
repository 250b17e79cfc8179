// What the verb render is asked for, and the drawings it leads to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/options.h"
#include "figure/figure.h"

namespace headlight {

/// The words of choices, in the order of what they choose.
inline constexpr const char* kComparedShows[] = {"pattern", "delta", "next"};
inline constexpr const char* kStepsShows[] = {"attention", "block", "heads"};
inline constexpr const char* kModelParts[] = {"embedding", "positions", "attention-norm", "attention",
                                              "mlp-norm",  "mlp",       "final-norm",     "unembedding"};

struct RenderOptions {
    InputOptions input;
    std::set<std::string> given;  // options, "head" for --head
    FigureOptions figure;
    std::string output, view = "heads", size, layer = "0", preset;
    std::string lock, with, text_b, model_b, show = "pattern", format, metric;
    std::string put = "resid_pre";  // of patching: what is put back
    bool all_heads = false, numbered = false, one_text = false;
    std::optional<std::string> mean, max;  // of which heads: layer, all, 1.2,3.0
    bool hard = false, as_lines = false;   // of an alignment
    std::string origins = "auto";          // of a graph: how it is told where a token comes from
    bool flow = false;                     // an older way to ask for flow
    bool sink_apart = false;               // of a graph
    std::string influence = "hidden", probes = "auto", beside = "head", method = "input-x-gradient",
                baseline = "mean", parts = "tokens";
    int after = -1, points = 50;  // of influence: the layer, −1: the last; steps of integrated gradients
    std::string corpus;           // of the view corpus: a file of texts, or a dossier
    bool graph = false;           // of circuits: the graph in place of the map
    int strongest = 60;           // compositions that it shows
    std::string steps = "attention", part = "attention";  // of steps; of a model: whose weights
    std::string architecture;                             // of a model's diagram: "gpt-3", a config.json
    std::string shown_heads;                              // of a graph and of lines; "": all
    int share = 70;                                       // … percent of each row that is drawn
    std::string animate;                                  // "layers", "tokens"
    int generate = 0;                                     // tokens that the model adds while it is animated
    double delay = 700;                                   // milliseconds a frame
    std::map<std::string, std::string> fields;            // of the style, those that were given
};

inline constexpr const char* kOriginsWords[] = {"auto", "rollout", "flow", "contribution", "relevance"};
inline constexpr const char* kInfluenceOf[] = {"hidden", "metric", "relevance"};
inline constexpr const char* kInfluenceProbes[] = {"auto", "exact", "8", "32"};
inline constexpr const char* kInfluenceBeside[] = {"head", "layer", "rollout", "contribution"};
inline constexpr const char* kInfluenceBaselines[] = {"mean", "zero", "text"};
inline constexpr const char* kTextParts[] = {"tokens", "words", "sentences", "paragraphs"};

template <size_t N>
std::vector<std::string> words_of(const char* const (&words)[N]) {
    return {std::begin(words), std::end(words)};
}

/// Fails where an option was given that does not act on the view, or on its numbers where those are written.
Status check_heard(const RenderOptions& options);
/// The same of what the model leaves unheard.
Status check_heard_by_model(const RenderOptions& options, const ModelConfig& config);

/// Options of the views graph and influence.
void add_origin_options(CLI::App& app, RenderOptions& options);

/// One picture of a trace: a figure, or a view as the window draws it. Layer and head are those of `figure`.
Result<Drawing> drawing_of(const RenderOptions& options, const std::shared_ptr<const Trace>& trace,
                           ThreadPool& pool);

/// Writes it, or, where the path's ending says so, the numbers of the view.
Status render_one(const RenderOptions& options, const std::shared_ptr<const Trace>& trace,
                  const std::string& output, ThreadPool& pool);

/// "a/b.png" with "2.0" becomes "a/b-2.0.png".
std::string with_suffix(const std::string& output, const std::string& suffix);

/// "07" of 12: numbers that sort as they count.
std::string padded(size_t number, size_t of);

/// The layer and the head of the options, checked.
Status choose_place(RenderOptions& options, const Trace& trace);

/// An animated PNG, or numbered pictures: layer by layer, or token by token.
Status render_animation(RenderOptions options);

}  // namespace headlight
