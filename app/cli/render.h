// Declares the options of the verb render and the functions that draw for it.
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
    std::set<std::string> given;  // names of options, "head" for --head
    FigureOptions figure;
    std::string output, format, view = "heads", size, preset;
    std::string layer = "0", cell, with, text_b, model_b, metric;
    bool all_heads = false, numbered = false, one_text = false;
    std::optional<std::string> mean, max;  // the heads: layer, all, 1.2,3.0
    std::string shown_heads;               // of a graph and of lines; "": all
    std::string panel;                     // heads of a panel, rows separated by ;
    int columns = 0;                       // of a panel whose heads are given in one row
    std::string architecture;              // of a model's diagram: "gpt-3", a config.json
    std::string animate;                   // "layers", "tokens"
    int generate = 0;                      // number of tokens to add in the animation
    double delay = 700;                    // milliseconds per frame
    GivenStyle style;
    std::map<std::string, std::string> chosen;  // options of views, if given

    /// Returns the value of a view's option, given or default.
    std::string word(const std::string& option) const;
};

/// Fails if an option was given that does not act on the view, or not on the numbers to write.
Status check_heard(const RenderOptions& options);
/// Returns whether the influence view scores tokens from another text.
bool scores_from_text(const RenderOptions& options);
/// Returns whether an option changes the figure of a view.
bool acts_on_figure(const std::string& option, const std::string& view);
/// Returns the options that change figures and not numbers.
std::vector<std::string> options_of_figures();
/// Fails if an option was given that does not act on the model.
Status check_heard_by_model(const RenderOptions& options, const ModelConfig& config);

struct ViewPage;
/// Makes a view's page with its options and the answers that it shows.
Result<ViewPage> view_page(const RenderOptions& options, const std::shared_ptr<const Trace>& trace,
                           ThreadPool& pool);

/// Draws a figure, or a view as the window draws it; layer and head are those of `figure`.
Result<Drawing> drawing_of(const RenderOptions& options, const std::shared_ptr<const Trace>& trace,
                           ThreadPool& pool);

/// Writes the picture or, if the path ends so, the numbers of the view.
Status render_one(const RenderOptions& options, const std::shared_ptr<const Trace>& trace,
                  const std::string& output, ThreadPool& pool);

/// Inserts a suffix: "a/b.png" with "2.0" becomes "a/b-2.0.png".
std::string with_suffix(const std::string& output, const std::string& suffix);

/// Pads a number so that names sort by it: "07" of 12.
std::string padded(size_t number, size_t of);

/// Sets layer and head from the options, checked.
Status choose_place(RenderOptions& options, const Trace& trace);

/// Writes an animated PNG or numbered pictures: layer by layer, or token by token.
Status render_animation(RenderOptions options);

}  // namespace headlight
