// What a corpus says of every head, as values: shown, written as JSON or a table, and read again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/attention/shown.h"
#include "analysis/corpus/corpus.h"
#include "io/numbers.h"

namespace headlight {

inline constexpr size_t kKeptCorpusText = 4096;  // characters of a text that are kept beside a link

/// A statistic over the texts for which it is defined; NaN where there are none (deviation: below two).
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
    std::string model, file;  // by name; of the texts, or the one that it was read from
    int texts = 0;
    int64_t tokens = 0;
    PerHead<HeadDossier> heads;
};

Dossier dossier_of(const Model& model, const Corpus& corpus, std::string file);

/// A row a head: the statistics' means and deviations.
std::string dossier_csv(const ModelConfig& config, const Dossier& dossier);
/// `sums`: what its means are made of is added, as doubles whose sum is exact, for whoever adds up parts of a
/// corpus, and all stands on one line.
std::string dossier_json(const ModelConfig& config, const Dossier& dossier, const Corpus* sums = nullptr);

/// Whether a file says of itself, at its beginning, that it is what dossier_json writes.
bool is_dossier(const std::filesystem::path& path);
/// What dossier_json wrote; an error where it is of a model with other heads. `name` is what messages call
/// it.
Result<Dossier> parse_dossier(std::string_view text, const std::string& name, const ModelConfig& config);

/// Statistics of all heads as one table, the kinds that a head links as another.
std::vector<NumberTable> dossier_numbers(const ModelConfig& config, const Dossier& dossier,
                                         AttentionHead head);

}  // namespace headlight
