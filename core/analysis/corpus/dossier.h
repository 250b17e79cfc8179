// Summarizes a corpus for every head as plain values: shown, written as JSON or a table, and read again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/attention/shown.h"
#include "analysis/corpus/corpus.h"
#include "io/numbers.h"

namespace headlight {

inline constexpr size_t kKeptCorpusText = 4096;  // characters of a text kept with a link

/// Holds a statistic over the texts for which it is defined; NaN if there are none (deviation: below two).
struct StatisticOverTexts {
    double mean = 0, deviation = 0;
    int texts = 0;
};

struct HeadDossier {
    std::array<StatisticOverTexts, kStatistics> statistics;
    std::vector<CorpusLink> strongest;
    Matrix links;  // [kinds of queries, kinds of keys], HeadOverTexts::links
};

struct Dossier {
    std::string model, file;  // file: of the texts, or the dossier itself
    int texts = 0;
    int64_t tokens = 0;
    PerHead<HeadDossier> heads;
    std::vector<LayerExperts> experts = {};  // of each layer that has them; empty: none, or an older file
    int64_t routed = 0;                      // tokens that chose experts: of the stack that predicts
};

Dossier dossier_of(const Model& model, const Corpus& corpus, std::string file);

/// Writes one row per head: the statistics' means and deviations.
std::string dossier_csv(const ModelConfig& config, const Dossier& dossier);
/// `sums`: adds what the means are computed from, as doubles whose sum is exact, for adding up parts of a
/// corpus, all on one line.
std::string dossier_json(const ModelConfig& config, const Dossier& dossier, const Corpus* sums = nullptr);

/// Returns whether a file declares itself, at its beginning, as written by dossier_json.
bool is_dossier(const std::filesystem::path& path);
/// Parses the output of dossier_json; fails if it is for a model with other heads. Messages call it `name`.
Result<Dossier> parse_dossier(std::string_view text, const std::string& name, const ModelConfig& config);

/// Tabulates [layers, experts]: the share of the tokens that chose each; empty cells: a layer with fewer.
Matrix expert_shares(const Dossier& dossier);

/// Lists statistics of all heads as one table, the kinds that each head links as another, and the shares of
/// experts, if there are any.
std::vector<NumberTable> dossier_numbers(const ModelConfig& config, const Dossier& dossier,
                                         AttentionHead head);

}  // namespace headlight
