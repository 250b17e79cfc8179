// Draws several heads of one run as a figure for a paper: rows of maps under letters, with one color bar.
#pragma once

#include <vector>

#include "figure/contrast.h"
#include "figure/figure.h"
#include "model/heads.h"

namespace headlight {

using PanelRows = std::vector<std::vector<AttentionHead>>;

/// Reads rows of heads: "1.2,3.0;0.1,2.2", or one row, which is broken after each `columns` heads; 0: it is
/// not. Errors name --panel and --columns.
Result<PanelRows> parse_panel(const ModelConfig& config, const std::string& text, int columns);

/// Draws rows of heads on one scale of colors. `options` are those of one head; its width is the panel's, and
/// its rows make its height. Fails where a mixing matrix, which is signed, stands beside patterns.
Result<Drawing> panel_figure(const std::shared_ptr<const Trace>& trace, const PanelRows& rows,
                             const FigureOptions& options, ThreadPool& pool);

/// Returns how a head's weights become colors when it is drawn alone.
Result<Shades> shades_of_head(const Trace& trace, const FigureOptions& options);

/// Draws one head with the colors of a scale; null: its own.
Result<Drawing> head_on_scale(std::shared_ptr<const Trace> trace, const FigureOptions& options,
                              const Shades* scale);

}  // namespace headlight
