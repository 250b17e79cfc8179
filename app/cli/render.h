// What the verb render is asked for, and the drawings it leads to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/style_options.h"
#include "figure/figure.h"

namespace headlight {

struct RenderOptions {
    InputOptions input;
    std::set<std::string> given;  // options, "head" for --head
    FigureOptions figure;
    std::string output, format, view = "heads", size, preset;
    std::string layer = "0", cell, with, text_b, model_b, metric;
    bool all_heads = false, numbered = false, one_text = false;
    std::optional<std::string> mean, max;  // of which heads: layer, all, 1.2,3.0
    std::string shown_heads;               // of a graph and of lines; "": all
    std::string architecture;              // of a model's diagram: "gpt-3", a config.json
    std::string animate;                   // "layers", "tokens"
    int generate = 0;                      // tokens that the model adds while it is animated
    double delay = 700;                    // milliseconds a frame
    GivenStyle style;
    std::map<std::string, std::string> chosen;  // the views' own options, those that were given

    /// What an option of a view is, given or by itself.
    std::string word(const std::string& option) const;
};

/// Fails where an option was given that does not act on the view, or on its numbers where those are written.
Status check_heard(const RenderOptions& options);
/// Whether the view of influence scores tokens from another text.
bool scores_from_text(const RenderOptions& options);
/// Whether the figure of a view hears an option.
bool acts_on_figure(const std::string& option, const std::string& view);
/// Those that change the figure of a view and not its numbers.
std::vector<std::string> options_of_figures();
/// The same as check_heard of what the model leaves unheard.
Status check_heard_by_model(const RenderOptions& options, const ModelConfig& config);

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
