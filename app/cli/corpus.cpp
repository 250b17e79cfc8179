#include "cli/corpus.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/corpus.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "cli/corpus_texts.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "io/json.h"
#include "io/output_file.h"

namespace headlight {

namespace {

constexpr size_t kShownText = 240;  // characters of a text that are kept beside a link

Status add_line(const CorpusOptions& o, const std::shared_ptr<const Model>& model, int line,
                const std::string& text, ThreadPool& pool, Corpus& corpus) {
    InputOptions input = o.input;
    input.typed.text = text;
    auto request = read_request(input, model, pool);
    if (!request) return in_line(o, line, request.error().message);
    TRY(const auto trace, run_trace(model, *std::move(request), pool));
    const auto kept = std::make_shared<const CorpusText>(CorpusText{line, shorten_middle(text, kShownText)});
    return guarded([&]() -> Status {
        corpus.add(*trace, kept, pool);
        return success();
    });
}

Result<Corpus> read_corpus(const CorpusOptions& o, const std::shared_ptr<const Model>& model) {
    ThreadPool pool(o.input.threads);
    std::optional<Progress> progress;
    Corpus corpus(model->config, o.strongest);
    TRY_STATUS(visit_texts(
        o, [&](int count) { progress.emplace(count, o.input.quiet); },
        [&](int line, const std::string& text) -> Status {
            TRY_STATUS(add_line(o, model, line, text, pool, corpus));
            progress->step();
            return success();
        }));
    return corpus;
}

std::string corpus_csv(const ModelConfig& c, const Corpus& corpus) {
    std::string out = "layer,head";
    for (const HeadStatistic& s : head_statistics()) out += "," + std::string(s.key) + "," + s.key + "_sd";
    const auto add = [&out](double value) {
        char text[32];
        std::snprintf(text, sizeof text, ",%.6g", value);
        out += std::isnan(value) ? "," : text;
    };
    for (int i = 0; i < isize(corpus.heads()); ++i) {
        const auto [block, head] = c.head_at(i);
        out += "\n" + block_path(c, block) + "," + std::to_string(head);
        for (const SpreadOverTexts& s : corpus.heads()[i].statistics) {
            add(s.mean());
            add(s.deviation());
        }
    }
    return out + "\n";
}

/// What is added up, as doubles whose sum is exact, for whoever adds up parts of a corpus.
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

nlohmann::ordered_json json_of(const HeadOverTexts& head) {
    nlohmann::ordered_json out;
    for (int s = 0; s < kStatistics; ++s) {
        const SpreadOverTexts& spread = head.statistics[s];
        out["statistics"][head_statistics()[s].key] = {
            {"mean", spread.mean()}, {"deviation", spread.deviation()}, {"texts", spread.count}};
    }
    out["strongest"] = nlohmann::ordered_json::array();
    for (const CorpusLink& l : head.strongest)
        out["strongest"].push_back({{"query", l.query_token},
                                    {"key", l.key_token},
                                    {"weight", l.weight},
                                    {"line", l.text->line},
                                    {"query_position", l.query},
                                    {"key_position", l.key},
                                    {"text", l.text->text}});
    const Matrix links = head.links();
    for (int q = 0; q < kTokenKinds; ++q)
        for (int k = 0; k < kTokenKinds; ++k)
            out["links"][token_kinds()[q].word][token_kinds()[k].word] = links(q, k);  // NaN becomes null
    return out;
}

std::string corpus_json(const Model& model, const Corpus& corpus, bool sums) {
    nlohmann::ordered_json root{
        {"model", model.name}, {"texts", corpus.texts()}, {"tokens", corpus.tokens()}};
    for (const TokenKindRow& row : token_kinds()) root["kinds"][row.word] = row.help;
    root["heads"] = nlohmann::ordered_json::array();
    for (int i = 0; i < isize(corpus.heads()); ++i) {
        const AttentionHead at = model.config.head_at(i);
        nlohmann::ordered_json head{{"head", head_path(model.config, at)}};
        head.update(json_of(corpus.heads()[i]));
        if (sums) head["sums"] = sums_json(corpus.heads()[i]);
        root["heads"].push_back(std::move(head));
    }
    return json_text(root, sums ? -1 : 2) + "\n";
}

std::string statistics_page(const ModelConfig& c, const Corpus& corpus) {
    std::string out =
        "<h2>Statistics</h2>\n<p class=\"note\">Means over the texts, and their standard deviation. A click "
        "on a column sorts by it, a click on a head leads to its sheet.</p><div "
        "class=\"scroll\"><table><thead><tr><th>head</th>";
    for (const HeadStatistic& s : head_statistics())
        out +=
            "<th data-sorts title=\"" + escaped(s.definition) + "\">" + escaped(s.label) + "</th><th>±</th>";
    out += "</tr></thead><tbody>\n";
    for (int i = 0; i < isize(corpus.heads()); ++i) {
        const std::string path = head_path(c, c.head_at(i));
        out += "<tr><td><a href=\"#h" + path + "\">" + path + "</a></td>";
        for (const SpreadOverTexts& s : corpus.heads()[i].statistics)
            out += number_cell(float(s.mean()), 3) + number_cell(float(s.deviation()), 3);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string links_table(const HeadOverTexts& head) {
    std::string out = "<table><thead><tr><th>from ↓ to →</th>";
    for (const TokenKindRow& row : token_kinds())
        out += "<th title=\"" + escaped(row.help) + "\">" + row.word + "</th>";
    out += "</tr></thead><tbody>\n";
    const Matrix links = head.links();
    for (int q = 0; q < kTokenKinds; ++q) {
        if (!head.queries[q]) continue;
        out += "<tr><td>" + std::string(token_kinds()[q].word) + "</td>";
        for (int k = 0; k < kTokenKinds; ++k) out += number_cell(links(q, k), 3);
        out += "</tr>\n";
    }
    return out + "</tbody></table>\n";
}

std::string head_sheet(const ModelConfig& c, AttentionHead at, const HeadOverTexts& head) {
    const std::string path = head_path(c, at);
    std::string out = "<h2 id=\"h" + path + "\">Head " + path + "</h2>\n" + links_table(head) +
                      "<table><thead><tr><th>query</th><th>attends to</th><th>weight</th><th>line</th><th>"
                      "text</th></tr></thead><tbody>\n";
    for (const CorpusLink& l : head.strongest)
        out += "<tr><td>" + escaped(l.query_token) + " " + std::to_string(l.query) + "</td><td>" +
               escaped(l.key_token) + " " + std::to_string(l.key) + "</td>" + number_cell(l.weight, 3) +
               "<td>" + std::to_string(l.text->line) + "</td><td class=\"bars\">" + escaped(l.text->text) +
               "</td></tr>\n";
    return out + "</tbody></table>\n";
}

std::string corpus_page(const Model& model, const Corpus& corpus) {
    std::string out =
        page_head("Heads of " + model.name + " over " + std::to_string(corpus.texts()) + " texts") +
        model_line(model) + "<p class=\"note\">" + std::to_string(corpus.tokens()) +
        " tokens. The mean weight from one kind of token to another, and the heaviest pairs of "
        "tokens, each once; the first token of a text, on which heads rest, is left out of the "
        "pairs.</p>\n" +
        statistics_page(model.config, corpus);
    for (int i = 0; i < isize(corpus.heads()); ++i)
        out += head_sheet(model.config, model.config.head_at(i), corpus.heads()[i]);
    return out + page_end();
}

}  // namespace

Status write_corpus(const CorpusOptions& o) {
    const bool page = o.output.ends_with(".html"), json = o.json || o.output.ends_with(".json");
    if (!o.output.empty() && !page && !json && !o.output.ends_with(".csv"))
        return Error{in_quotes(shortened(o.output)) +
                     " does not end in .html, .json or .csv; change its ending."};
    if (o.sums && !json) return Error{"--sums stand in JSON alone; add --json, or end -o in .json."};
    TRY(const auto model, open_model(o.input));
    if (model->config.can.read_image)
        return Error{model->name + " reads images, and --corpus is a file of texts; open another model."};
    TRY(const Corpus corpus, read_corpus(o, model));
    const std::string text = page   ? corpus_page(*model, corpus)
                             : json ? corpus_json(*model, corpus, o.sums)
                                    : corpus_csv(model->config, corpus);
    if (!o.output.empty()) return write_file(o.output, text);
    return json ? print_json(text) : print(text);
}

}  // namespace headlight
