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
           "--view graph: how it is told where a token comes from; auto: rollout, or contributions where "
           "that leaves the first token more than half");
    app.add_flag("--flow", o.flow, "--view graph: as --origins flow")->excludes(app.get_option("--origins"));
    app.add_flag("--sink-apart", o.sink_apart,
                 "--view graph: the first token apart, the others' shares renormalized");
    app.add_option(
        "--corpus", o.corpus,
        "--view corpus: a file of texts, one a line, or a dossier that 'heads --corpus' wrote as .json");
    app.add_flag(
        "--graph", o.graph,
        "--view circuits: heads by layer with the strongest compositions between them, in place of the "
        "map");
    app.add_option("--strongest", o.strongest, "--view circuits --graph: how many compositions")
        ->check(within(5, kRankedCompositions))
        ->capture_default_str();
    choice("--influence", o.influence, words_of(kInfluenceOf),
           "--view influence: the map's rows: a hidden state at each token, the metric taken there, or its "
           "relevance there (patterns weighted by its gradients)");
    app.add_option("--after", o.after,
                   "--view influence: the layer behind which the hidden state is; -1: the last")
        ->check(within(-1, 4096))
        ->capture_default_str();
    choice("--probes", o.probes, words_of(kInfluenceProbes),
           "--view influence: exact, or estimated from so many random directions an output; auto: exact "
           "where that takes half a minute at most, else 8");
    choice("--beside", o.beside, words_of(kInfluenceBeside),
           "--view influence: the attention beside the map: of --head, the layer's mean, or through all "
           "layers");
    std::vector<std::string> methods;
    for (const InfluenceMethodRow& row : influence_methods()) methods.emplace_back(row.word);
    choice("--method", o.method, methods, "--view influence: how tokens are scored, as attribute does it");
    choice("--baseline", o.baseline, words_of(kInfluenceBaselines),
           "--view influence: where integrated gradients begin; text: --text-b");
    app.add_option("--points", o.points, "--view influence: points of integrated gradients")
        ->check(within(1, 10000))
        ->capture_default_str();
    choice("--parts", o.parts, words_of(kTextParts), "--view influence: what scores are added up over");
}

}  // namespace headlight
