#include "session/dossier_page.h"

#include "base/markup.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/output_file.h"
#include "session/html.h"

namespace headlight {

namespace {

constexpr size_t kShownText = 240;  // characters of a sentence in a table

std::string statistics_page(const ModelConfig& c, const Dossier& dossier) {
    std::string out =
        "<h2>Statistics</h2>\n<p class=\"note\">Mean and standard deviation over the texts. Click a column "
        "to sort by it, a head to jump to its section.</p><div "
        "class=\"scroll\"><table><thead><tr><th>head</th>";
    for (const HeadStatistic& s : head_statistics())
        out +=
            "<th data-sorts title=\"" + escaped(s.definition) + "\">" + escaped(s.label) + "</th><th>±</th>";
    out += "</tr></thead><tbody>\n";
    for (int i = 0; i < isize(dossier.heads); ++i) {
        const std::string path = head_path(c, c.head_at(i));
        out += "<tr><td><a href=\"#h" + path + "\">" + path + "</a></td>";
        for (const StatisticOverTexts& s : dossier.heads[i].statistics)
            out += number_cell(float(s.mean), 3) + number_cell(float(s.deviation), 3);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string links_table(const HeadDossier& head) {
    std::string out = "<table><thead><tr><th>from ↓ to →</th>";
    for (const TokenKindRow& row : token_kinds())
        out += "<th title=\"" + escaped(row.help) + "\">" + row.word + "</th>";
    out += "</tr></thead><tbody>\n";
    for (int q = 0; q < kTokenKinds; ++q) {
        if (head.links.row(q).hasNaN()) continue;  // no such query
        out += "<tr><td>" + std::string(token_kinds()[q].word) + "</td>";
        for (int k = 0; k < kTokenKinds; ++k) out += number_cell(head.links(q, k), 3);
        out += "</tr>\n";
    }
    return out + "</tbody></table>\n";
}

std::string head_sheet(const ModelConfig& c, AttentionHead at, const HeadDossier& head) {
    const std::string path = head_path(c, at);
    std::string out = "<h2 id=\"h" + path + "\">Head " + path + "</h2>\n" + links_table(head) +
                      "<table><thead><tr><th>query</th><th>attends to</th><th>weight</th><th>line</th><th>"
                      "text</th></tr></thead><tbody>\n";
    for (const CorpusLink& l : head.strongest)
        out += "<tr><td>" + escaped(l.query_token) + " " + std::to_string(l.query) + "</td><td>" +
               escaped(l.key_token) + " " + std::to_string(l.key) + "</td>" + number_cell(l.weight, 3) +
               "<td>" + std::to_string(l.text->line) + "</td><td class=\"bars\">" +
               escaped(shorten_middle(l.text->text, kShownText)) + "</td></tr>\n";
    return out + "</tbody></table>\n";
}

/// The model's line, or the dossier's own description if the model is not open.
std::string line_of(const Model& model, const Dossier& dossier) {
    if (model.name == dossier.model) return model_line(model);
    return "<p class=\"note\">" + escaped(dossier.model) + " · " + std::to_string(model.config.layers()) +
           " layers · " + per_stack(model.config, &AttentionSpec::heads) + " heads</p>\n";
}

}  // namespace

bool is_dossier_path(const std::filesystem::path& path) {
    const std::string ending = lower_case(path.extension().string());
    return ending == ".html" || ending == ".json" || ending == ".csv";
}

std::string dossier_html(const Model& model, const Dossier& dossier) {
    std::string out =
        page_head("Heads of " + dossier.model + " over " + std::to_string(dossier.texts) + " texts") +
        line_of(model, dossier) + "<p class=\"note\">" + std::to_string(dossier.tokens) +
        " tokens. Mean weight from one kind of token to another, and the strongest token pairs, each listed "
        "once. Pairs leave out a text’s first token, the usual attention sink.</p>\n" +
        statistics_page(model.config, dossier);
    for (int i = 0; i < isize(dossier.heads); ++i)
        out += head_sheet(model.config, model.config.head_at(i), dossier.heads[i]);
    return out + page_end();
}

Status write_dossier(const std::filesystem::path& path, const Model& model, const Dossier& dossier) {
    const std::string ending = lower_case(path.extension().string());
    return write_file(path, ending == ".html"   ? dossier_html(model, dossier)
                            : ending == ".json" ? dossier_json(model.config, dossier)
                                                : dossier_csv(model.config, dossier));
}

}  // namespace headlight
