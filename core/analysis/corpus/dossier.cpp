// Writes and reads dossiers.
#include "analysis/corpus/dossier.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/corpus/dossier_experts.h"
#include "base/quoted.h"
#include "io/file_version.h"
#include "io/regular_file.h"

namespace headlight {

namespace {

constexpr const char* kDossierFormat = "headlight-dossier";
constexpr int64_t kMaxCounted = int64_t{1} << 53;
constexpr int kMaxPositions = 1 << 30;
constexpr double kMaxMean = 1e6, kMaxWeight = 2;  // above any statistic or weight
constexpr size_t kMaxRowLinks = 4096;             // per head
constexpr double kUnknownNumber = std::numeric_limits<double>::quiet_NaN();

nlohmann::ordered_json json_of(const CorpusLink& l) {
    nlohmann::ordered_json out{{"query", l.query_token}, {"key", l.key_token},        {"weight", l.weight},
                               {"line", l.text->line},   {"query_position", l.query}, {"key_position", l.key},
                               {"text", l.text->text}};
    if (!l.text->whole) out["cut"] = true;
    if (l.query_place != Span{}) out["query_place"] = {l.query_place.begin, l.query_place.end};
    if (l.key_place != Span{}) out["key_place"] = {l.key_place.begin, l.key_place.end};
    return out;
}

nlohmann::ordered_json json_of(const HeadDossier& head) {
    nlohmann::ordered_json out;
    for (int s = 0; s < kStatistics; ++s) {
        const StatisticOverTexts& spread = head.statistics[s];
        out["statistics"][head_statistics()[s].key] = {
            {"mean", spread.mean}, {"deviation", spread.deviation}, {"texts", spread.texts}};
    }
    out["strongest"] = nlohmann::ordered_json::array();
    for (const CorpusLink& l : head.strongest) out["strongest"].push_back(json_of(l));
    for (int q = 0; q < kTokenKinds; ++q)
        for (int k = 0; k < kTokenKinds; ++k)
            out["links"][token_kinds()[q].word][token_kinds()[k].word] =
                head.links(q, k);  // NaN becomes null
    return out;
}

nlohmann::ordered_json sums_json(const HeadOverTexts& head) {
    nlohmann::ordered_json out;
    for (int s = 0; s < kStatistics; ++s) {
        const SpreadOverTexts& spread = head.statistics[s];
        out["statistics"][head_statistics()[s].key] = {{"sum", spread.sum.parts()},
                                                       {"squares", spread.squares.parts()}};
    }
    for (int q = 0; q < kTokenKinds; ++q) {
        out["queries"][token_kinds()[q].word] = head.queries[q];
        for (int k = 0; k < kTokenKinds; ++k)
            out["weights"][token_kinds()[q].word][token_kinds()[k].word] = head.weights[q][k].parts();
    }
    out["ids"] = nlohmann::ordered_json::array();
    for (const CorpusLink& l : head.strongest) out["ids"].push_back({l.query_id, l.key_id});
    return out;
}

Error out_of_range(const std::string& name, const std::string& key) {
    return Error{name + ": " + key + " is out of range for a head; write the dossier again."};
}

/// Reads a number; NaN if it is null or missing.
Result<double> number_or_none(const Json& object, const char* key, double max, const std::string& name) {
    const Json* value = json_find(object, or_null(key));
    if (!value) return kUnknownNumber;
    if (!value->is_number()) return wrong_type(name, key, "a number", *value);
    const double number = value->get<double>();
    if (!(std::abs(number) <= max)) return out_of_range(name, key);
    return number;
}

Result<Span> place_in(const Json& link, const char* key, const std::string& name) {
    TRY(const Json place, json_list(link, key, name));
    if (place.empty()) return Span{};
    if (place.size() != 2) return Error{name + ": " + key + " is no beginning and end."};
    TRY(const int64_t begin, whole_number(place[0], key, 0, kMaxPositions, name));
    TRY(const int64_t end, whole_number(place[1], key, begin, kMaxPositions, name));
    return Span{static_cast<int>(begin), static_cast<int>(end)};
}

Result<CorpusLink> link_from(const Json& json, const std::string& name) {
    CorpusLink out;
    CorpusText text;
    TRY(const double weight, json_number(json, "weight", 0, name));
    if (std::abs(weight) > kMaxWeight) return out_of_range(name, "weight");
    TRY(const int64_t query, json_integer(json, "query_position", 0, 0, kMaxPositions, name));
    TRY(const int64_t key, json_integer(json, "key_position", 0, 0, kMaxPositions, name));
    TRY(const int64_t line, json_integer(json, "line", 0, 0, kMaxPositions, name));
    TRY(out.query_token, json_string(json, "query", "", name));
    TRY(out.key_token, json_string(json, "key", "", name));
    TRY(text.text, json_string(json, "text", "", name));
    constexpr size_t kMaxBytes = 4 * (kKeptCorpusText + 1);
    if (std::max({text.text.size(), out.query_token.size(), out.key_token.size()}) > kMaxBytes)
        return Error{name + " holds a longer text than a dossier keeps; write it again."};
    TRY(const bool cut, json_boolean(json, "cut", false, name));
    TRY(out.query_place, place_in(json, "query_place", name));
    TRY(out.key_place, place_in(json, "key_place", name));
    out.weight = static_cast<float>(weight);
    out.query = static_cast<int>(query);
    out.key = static_cast<int>(key);
    text.line = static_cast<int>(line);
    text.whole = !cut;
    out.text = std::make_shared<const CorpusText>(std::move(text));
    return out;
}

Result<Matrix> links_from(const Json& json, const std::string& name) {
    Matrix out = Matrix::Constant(kTokenKinds, kTokenKinds, std::numeric_limits<float>::quiet_NaN());
    for (int q = 0; q < kTokenKinds; ++q) {
        TRY(const Json row, json_object(json, token_kinds()[q].word, name));
        for (int k = 0; k < kTokenKinds; ++k) {
            TRY(const double share, number_or_none(row, token_kinds()[k].word, kMaxWeight, name));
            out(q, k) = static_cast<float>(share);
        }
    }
    return out;
}

Result<HeadDossier> head_from(const Json& json, const std::string& name) {
    HeadDossier out;
    TRY(const Json statistics, json_object(json, "statistics", name));
    for (int s = 0; s < kStatistics; ++s) {
        TRY(const Json spread, json_object(statistics, head_statistics()[s].key, name));
        TRY(out.statistics[s].mean, number_or_none(spread, "mean", kMaxMean, name));
        TRY(out.statistics[s].deviation, number_or_none(spread, "deviation", kMaxMean, name));
        TRY(const int64_t texts, json_integer(spread, "texts", 0, 0, kMaxPositions, name));
        out.statistics[s].texts = static_cast<int>(texts);
    }
    TRY(const Json strongest, json_list(json, "strongest", name));
    if (strongest.size() > kMaxRowLinks)
        return Error{name + " lists more than " + std::to_string(kMaxRowLinks) +
                     " pairs of a head; write it again."};
    for (const Json& link : strongest) {
        TRY(CorpusLink read, link_from(link, name));
        out.strongest.push_back(std::move(read));
    }
    TRY(const Json links, json_object(json, "links", name));
    TRY(out.links, links_from(links, name));
    return out;
}

Error of_other_heads(const std::string& name, const Dossier& dossier, size_t heads) {
    return Error{name + " is about " + std::to_string(heads) + " heads of " + in_quotes(dossier.model) +
                 ", and the model that is open has other ones; open that model first."};
}

}  // namespace

Dossier dossier_of(const Model& model, const Corpus& corpus, std::string file) {
    Dossier out{model.name,
                std::move(file),
                corpus.texts(),
                corpus.tokens(),
                PerHead<HeadDossier>(model.config),
                {},
                corpus.experts().tokens};
    for (int i = 0; i < isize(corpus.heads()); ++i) {
        const HeadOverTexts& head = corpus.heads()[i];
        for (int s = 0; s < kStatistics; ++s)
            out.heads[i].statistics[s] = {head.statistics[s].mean(), head.statistics[s].deviation(),
                                          head.statistics[s].count};
        out.heads[i].strongest = head.strongest;
        out.heads[i].links = head.links();
    }
    out.experts = experts_over_texts(corpus.experts());
    return out;
}

std::string dossier_csv(const ModelConfig& c, const Dossier& dossier) {
    std::string out = "layer,head";
    for (const HeadStatistic& s : head_statistics()) out += "," + std::string(s.key) + "," + s.key + "_sd";
    const auto add = [&out](double value) { out += "," + csv_number(value); };
    for (int i = 0; i < isize(dossier.heads); ++i) {
        const auto [block, head] = c.head_at(i);
        out += "\n" + block_path(c, block) + "," + std::to_string(head);
        for (const StatisticOverTexts& s : dossier.heads[i].statistics) {
            add(s.mean);
            add(s.deviation);
        }
    }
    return out + "\n";
}

std::string dossier_json(const ModelConfig& c, const Dossier& dossier, const Corpus* sums) {
    nlohmann::ordered_json root{{"format", kDossierFormat},
                                {"version", kFileVersion},
                                {"model", dossier.model},
                                {"texts", dossier.texts},
                                {"tokens", dossier.tokens}};
    for (const TokenKindRow& row : token_kinds()) root["kinds"][row.word] = row.help;
    root["heads"] = nlohmann::ordered_json::array();
    for (int i = 0; i < isize(dossier.heads); ++i) {
        nlohmann::ordered_json head{{"head", head_path(c, c.head_at(i))}};
        head.update(json_of(dossier.heads[i]));
        if (sums) head["sums"] = sums_json(sums->heads()[i]);
        root["heads"].push_back(std::move(head));
    }
    if (!dossier.experts.empty()) root["routed"] = dossier.routed;
    if (!dossier.experts.empty()) root["experts"] = experts_json(dossier, sums);
    return json_text(root, sums ? -1 : 2) + "\n";
}

bool is_dossier(const std::filesystem::path& path) {
    return beginning_of(path, 64).find(std::string("\"") + kDossierFormat + "\"") != std::string::npos;
}

Result<Dossier> parse_dossier(std::string_view text, const std::string& name, const ModelConfig& c) {
    TRY(const Json root, parse_json(text, name));
    TRY(const std::string format, json_string(root, "format", "", name));
    if (format != kDossierFormat)
        return Error{name + " is no dossier of heads: 'headlight heads --corpus … -o FILE.json' writes one."};
    TRY_STATUS(check_version(root, name));
    Dossier out;
    TRY(out.model, json_string(root, "model", "", name));
    out.file = name;
    TRY(const int64_t texts, json_integer(root, "texts", 0, 0, kMaxPositions, name));
    TRY(out.tokens, json_integer(root, "tokens", 0, 0, kMaxCounted, name));
    out.texts = static_cast<int>(texts);
    TRY(const Json heads, json_list(root, "heads", name));
    if (isize(heads) != c.head_count()) return of_other_heads(name, out, heads.size());
    out.heads = PerHead<HeadDossier>(c);
    for (int i = 0; i < c.head_count(); ++i) {
        TRY(const std::string path, json_string(heads[i], "head", "", name));
        if (path != head_path(c, c.head_at(i))) return of_other_heads(name, out, heads.size());
        TRY(out.heads[i], head_from(heads[i], name));
    }
    TRY(out.routed, json_integer(root, "routed", 0, 0, kMaxCounted, name));
    TRY(out.experts, experts_from(root, name, c));
    return out;
}

std::vector<NumberTable> dossier_numbers(const ModelConfig& c, const Dossier& dossier, AttentionHead head) {
    NumberTable statistics{"statistics", "head", "", {}, {}, {}};
    for (const HeadStatistic& s : head_statistics()) {
        statistics.columns.push_back(s.label);
        statistics.columns.push_back(std::string(s.label) + ", deviation");
    }
    statistics.values.resize(c.head_count(), 2 * kStatistics);
    for (int i = 0; i < c.head_count(); ++i) {
        statistics.rows.push_back(head_name(c, c.head_at(i)));
        for (int s = 0; s < kStatistics; ++s) {
            statistics.values(i, 2 * s) = static_cast<float>(dossier.heads[i].statistics[s].mean);
            statistics.values(i, 2 * s + 1) = static_cast<float>(dossier.heads[i].statistics[s].deviation);
        }
    }
    NumberTable links{
        "kinds that " + head_name(c, head) + " links", "from", "to", {}, {}, dossier.heads[head].links};
    for (const TokenKindRow& row : token_kinds()) {
        links.rows.emplace_back(row.word);
        links.columns.emplace_back(row.word);
    }
    std::vector<NumberTable> out{std::move(statistics), std::move(links)};
    for (NumberTable& table : expert_numbers_of(dossier)) out.push_back(std::move(table));
    return out;
}

}  // namespace headlight
