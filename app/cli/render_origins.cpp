// Options of render for the views that tell where an answer comes from, for circuits, and for a corpus.
#include <CLI/CLI.hpp>

#include "analysis/attribution/influence.h"
#include "analysis/circuits/composition.h"
#include "cli/render.h"
#include "cli/validators.h"

namespace headlight {

void add_origin_options(CLI::App& app, RenderOptions& o) {
    const auto choice = [&](const char* name, std::string& into, const std::vector<std::string>& words,
                            const char* help) {
        app.add_option(name, into, help)->check(one_of(words))->capture_default_str();
    };
    choice("--origins", o.origins, words_of(kOriginsWords),
           "--view graph: how to trace where a token comes from; auto: rollout, or "
           "contributions if rollout leaves the first token more than half");
    app.add_flag("--flow", o.flow, "--view graph: same as --origins flow")
        ->excludes(app.get_option("--origins"));
    app.add_flag("--sink-apart", o.sink_apart,
                 "--view graph: show the first token separately and renormalize the other shares");
    app.add_option("--corpus", o.corpus,
                   "--view corpus: a file of texts, one per line, or a dossier (.json) from 'heads "
                   "--corpus'");
    app.add_flag("--graph", o.graph,
                 "--view circuits: heads by layer with the strongest compositions between them, "
                 "instead of the map");
    app.add_option("--strongest", o.strongest, "--view circuits --graph: number of compositions")
        ->check(within(5, kRankedCompositions))
        ->capture_default_str();
    choice("--influence", o.influence, words_of(kInfluenceOf),
           "--view influence: the map's rows: a hidden state at each token, the metric taken there, or its "
           "relevance there (patterns weighted by its gradients)");
    app.add_option("--after", o.after,
                   "--view influence: the layer whose output is the hidden state; -1: the last")
        ->check(within(-1, 4096))
        ->capture_default_str();
    choice("--probes", o.probes, words_of(kInfluenceProbes),
           "--view influence: exact, or estimated from this many random directions per output; "
           "auto: exact if that takes at most half a minute, else 8");
    choice("--beside", o.beside, words_of(kInfluenceBeside),
           "--view influence: the attention next to the map: of --head, the layer's mean, or "
           "through all layers");
    std::vector<std::string> methods;
    for (const InfluenceMethodRow& row : influence_methods()) methods.emplace_back(row.word);
    choice("--method", o.method, methods, "--view influence: how to score tokens, as in attribute");
    choice("--baseline", o.baseline, words_of(kInfluenceBaselines),
           "--view influence: where integrated gradients start; text: --text-b");
    app.add_option("--points", o.points, "--view influence: number of points for integrated gradients")
        ->check(within(1, 10000))
        ->capture_default_str();
    choice("--parts", o.parts, words_of(kTextParts), "--view influence: units to sum scores over");
}

}  // namespace headlight
