// Lists which options act on which views; others are refused.
#include <algorithm>

#include "analysis/attention/positions.h"
#include "base/listed.h"
#include "cli/render.h"
#include "cli/usage.h"
#include "figure/file_formats.h"
#include "session/dossier_page.h"
#include "views/view_options.h"

namespace headlight {

namespace {

/// Lists options and the views on whose figure and numbers they act, separated by commas: "*" is all views,
/// "*-learn" all but one, "same" those of the figure.
struct HeardRow {
    std::string options, figures, numbers = "same";

    const std::string& heard(bool by_numbers) const {
        return by_numbers && numbers != "same" ? numbers : figures;
    }
};

std::span<const HeardRow> heard_rows() {
    static const HeardRow table[] = {
        {"mask,ablate,change,temperature-attn",
         "*-model,circuits,positions,corpus,prompts"},  // computed from weights alone
        {"layer", "*-heads,lens,graph,patch,explain,prompts,contacts,chat",
         "*-heads,lens,graph,patch,explain,prompts,experts,contacts,chat"},
        {"head", "*-heads,lens,graph,explain,prompts,experts,contacts,chat",
         "*-heads,lens,graph,explain,prompts,delta,positions,experts,contacts,chat"},
        {"all-heads", "*-heads,lens,graph,delta,patch,influence,explain,prompts,experts,contacts,chat",
         "*-heads,lens,graph,delta,patch,influence,explain,prompts,positions,experts,contacts,chat"},
        {"cell", "lines,steps,delta,lens,graph,text,origins,compare,alignment,picture,experts",
         "steps,delta,lens,graph,text,origins,experts"},
        {"with,model-b", "compare"},
        {"text-b", "compare,patch,influence"},
        {"metric", "delta,lens,graph,patch,influence,explain",
         "delta,lens,graph,patch,influence,explain,experts"},
        {"mean", "head,text,alignment,picture"},
        {"max", "head,text,picture"},
        {"heads", "lines,graph"},
        {"panel,columns", "head", ""},
        {"architecture", "model"},
        {"size,width-mm,width-px,dpi,font,font-pt,title,caption,transparent", "*", ""},
        {"height-mm,height-px,methods", "*-learn", ""},
        {"exact", "*"},
        {"preset", "*", "head,text,alignment,picture"},  // it may join words or drop the sink
        {"colormap",
         "head,heads,steps,delta,lens,text,circuits,learn,compare,alignment,picture,influence,explain,corpus,"
         "contacts,chat",
         ""},
        {"contrast,scale", "head,heads,text,alignment,picture", ""},
        {"queries,marks,labels,no-labels", "head,heads", ""},
        {"turn-labels,axis-titles,no-axis-titles,color-bar,no-color-bar,grid-lines,values", "head", ""},
        {"join-words", "head,alignment"},
        {"drop-sink", "head,text", "head,text,picture"},
        {"tokens,keys", "head"},
        {"only-heads", "heads", ""},
    };
    return table;
}

/// Names what an option of several views needs, as FieldOption::with does for one view.
struct WithRow {
    const char *options, *view, *with;
};

constexpr WithRow kWith[] = {
    {"colormap", "steps", "steps heads"}, {"metric", "graph", "origins relevance"},
    {"head", "patch", "what head"},       {"head,all-heads", "model", "part attention"},
    {"head", "influence", "beside head"},
};

/// Names the options that an option needs.
struct BesideRow {
    const char* options;  // separated by commas
    const char* views;    // as above
    bool (*act)(const RenderOptions&);
    const char* with;  // what they need
};

using Asked = RenderOptions;

bool of_one_head(const Asked& o) { return !o.mean && !o.max; }
bool of_heads_of_layer(const Asked& o) {
    const auto of_layer = [](const auto& of) { return !of || of->empty() || *of == "layer"; };
    return of_layer(o.mean) && of_layer(o.max);
}
bool is_open_model(const Asked& o) { return o.architecture.empty(); }
bool of_pattern(const Asked& o) { return o.word("show") == "pattern" || !is_numbers_path(o.output); }
bool shows_labels(const Asked& o) { return o.figure.labels; }
bool of_part_of_layer(const Asked& o) {
    return o.word("part").starts_with("attention") || o.word("part").starts_with("mlp");
}
bool maps_influence(const Asked& o) { return o.word("influence") != "none"; }
bool beside_layer(const Asked& o) {
    const std::string beside = o.word("beside");
    return beside == "head" || beside == "layer" || o.layer.find('.') != o.layer.npos;
}

constexpr const char* kOneHead = "one head, not with --mean or --max";

constexpr BesideRow kBeside[] = {
    {"dpi", "*", [](const Asked& o) { return o.output.ends_with(".png"); }, "a .png"},
    {"exact", "*", [](const Asked& o) { return is_html_path(o.output); }, "a page, x.html"},
    {"head,all-heads", "head,text,alignment,picture", of_one_head, kOneHead},
    {"layer,head,all-heads,mean,max,caption,methods,height-mm,height-px", "head",
     [](const Asked& o) { return !o.given.count("panel"); }, "one head, not with --panel"},
    {"mean", "alignment", of_heads_of_layer, "the layer's heads alone in --view alignment"},
    {"layer", "head,text,picture", of_heads_of_layer, "one head, or the heads of a layer"},
    {"head,all-heads", "lines", [](const Asked& o) { return o.shown_heads.empty(); },
     "the heads of a layer, not with --heads"},
    {"no-axis-titles,no-color-bar,axis-titles,color-bar,turn-labels", "head", shows_labels,
     "labels, not with --no-labels"},
    {"colormap,contrast", "alignment", [](const Asked& o) { return !o.chosen.count("as-lines"); },
     "a map, not with --as-lines"},
    {"contrast", "alignment", [](const Asked& o) { return !o.chosen.count("hard"); },
     "weights, not with --hard"},
    {"colormap", "circuits", [](const Asked& o) { return !o.chosen.count("graph"); },
     "a map, not with --graph"},
    {"layer,head,all-heads", "compare", of_pattern, "--show pattern, or a figure"},
    {"show", "compare", [](const Asked& o) { return o.word("show") != "encoding" || !o.model_b.empty(); },
     "--model-b if it is encoding"},
    {"cell", "compare",
     [](const Asked& o) { return o.word("show") != "delta" && o.word("show") != "encoding"; },
     "--show pattern or next"},
    {"colormap", "learn", [](const Asked&) { return false; },
     "a station that has a map: headlight learn --station"},
    {"colormap", "compare", [](const Asked& o) { return o.word("show") != "next"; },
     "--show pattern or delta"},
    {"mask,ablate,change,temperature-attn", "patch", [](const Asked& o) { return o.text_b.empty(); },
     "one text, whose unchanged run is the clean one, not with --text-b"},
    {"part,layer,head,all-heads", "model", is_open_model, "the open model, not with --architecture"},
    {"layer", "model", of_part_of_layer, "a --part of a layer"},
    {"text-b", "influence", scores_from_text,
     "--method attribution-patching, or with integrated-gradients and --baseline text"},
    {"colormap,beside,layer,head,all-heads", "influence", maps_influence,
     "--influence hidden, metric or relevance"},
    {"layer", "influence", beside_layer, "--beside head or layer"},
};

bool lists(std::string_view list, const std::string& item) {
    if (list.starts_with('*')) return list.size() == 1 || !lists(list.substr(2), item);
    return ("," + std::string(list) + ",").find("," + item + ",") != std::string::npos;
}

/// Names the views of a list: "--view head or lines"; "another --view" if the list excludes views.
std::string named_views(std::string_view list) {
    return list.starts_with('*') ? "another --view" : "--view " + listed(comma_list(std::string(list)), "or");
}

Status check_acts(const HeardRow& row, const RenderOptions& o, bool numbers) {
    for (const std::string& option : comma_list(row.options)) {
        if (!o.given.count(option) || lists(row.heard(numbers), o.view)) continue;
        if (!lists(row.figures, o.view))
            return Error{"--" + option + " does not act on --view " + o.view + "; leave it out, or draw " +
                         named_views(row.figures) + "."};
        return Error{"--" + option + " changes the figure of --view " + o.view + " and not its " +
                     (is_html_path(o.output) ? "page" : "numbers") + "; leave it out, or end -o in " +
                     endings_of(FormatKind::picture) + "."};
    }
    return success();
}

/// Checks that a needed choice was made: "graph", "method integrated-gradients".
Status check_with(const RenderOptions& o, const std::string& options, const std::string& with) {
    const size_t blank = with.find(' ');
    const std::string option = with.substr(0, blank);
    const bool acts = blank == with.npos ? o.chosen.count(option) : o.word(option) == with.substr(blank + 1);
    return acts ? success() : refuse_given(o.given, comma_list(options), "--" + with);
}

/// Checks the options of single views.
Status check_view_options(const RenderOptions& o, bool numbers) {
    for (const ViewOption& option : view_options()) {
        std::string of;
        for (const std::string& view : option.views) of += (of.empty() ? "" : ",") + view;
        TRY_STATUS(check_acts({option.row.name, of, option.row.figure_alone ? "" : of}, o, numbers));
        if (*option.row.with) TRY_STATUS(check_with(o, option.row.name, option.row.with));
    }
    return success();
}

}  // namespace

bool scores_from_text(const RenderOptions& o) {
    const std::string method = o.word("method");
    return method == "attribution-patching" ||
           (method == "integrated-gradients" && o.word("baseline") == "text");
}

bool acts_on_figure(const std::string& option, const std::string& view) {
    return std::ranges::any_of(heard_rows(), [&](const HeardRow& row) {
        return lists(row.options, option) && lists(row.figures, view);
    });
}

std::vector<std::string> options_of_figures() {
    std::vector<std::string> out;
    for (const HeardRow& row : heard_rows())
        if (row.numbers.empty())
            for (const std::string& option : comma_list(row.options)) out.push_back(option);
    for (const ViewOption& option : view_options())
        if (option.row.figure_alone) out.emplace_back(option.row.name);
    return out;
}

Status check_heard(const RenderOptions& o) {
    const bool numbers = !is_picture_path(o.output);
    if (o.view == "corpus" && is_dossier_path(o.output))
        TRY_STATUS(
            refuse_given(o.given, {"layer", "head"}, "the sheet of one head, and a dossier is of all"));
    for (const HeardRow& row : heard_rows()) TRY_STATUS(check_acts(row, o, numbers));
    TRY_STATUS(check_view_options(o, numbers));
    for (const WithRow& row : kWith)
        if (o.view == row.view) TRY_STATUS(check_with(o, row.options, row.with));
    for (const BesideRow& row : kBeside)
        if (lists(row.views, o.view) && !row.act(o))
            TRY_STATUS(refuse_given(o.given, comma_list(row.options), row.with));
    return success();
}

namespace {

bool layers_rotate_alike(const ModelConfig& c) {
    const StackConfig& stack = c.stacks[0];
    return std::all_of(stack.layers.begin(), stack.layers.end(), [&](const LayerSpec& layer) {
        return layer.attention.rope == stack.layers[0].attention.rope;
    });
}

/// Names the models on which an option acts.
struct ModelRow {
    const char* option;
    const char* views;
    bool (*acts)(const ModelConfig&);
    const char* with;
};

constexpr ModelRow kByModel[] = {
    {"join-words", "head,alignment", [](const ModelConfig& c) { return !c.can.read_image; },
     "words, and an image has none"},
    {"layer", "positions", [](const ModelConfig& c) { return !layers_rotate_alike(c); },
     "a model whose layers rotate by different angles"},
    {"head", "positions", [](const ModelConfig& c) { return positions_row(c.positions).by_distance; },
     "a model whose heads add biases by distance"},
};

}  // namespace

Status check_heard_by_model(const RenderOptions& o, const ModelConfig& c) {
    for (const ModelRow& row : kByModel)
        if (lists(row.views, o.view) && !row.acts(c))
            TRY_STATUS(refuse_given(o.given, {row.option}, row.with));
    return success();
}

}  // namespace headlight
