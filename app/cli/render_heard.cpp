// Which options act on which views: what does not act is refused, and never unheard.
#include "analysis/attention/positions.h"
#include "base/quoted.h"
#include "cli/render.h"
#include "cli/usage.h"
#include "io/numbers.h"
#include "session/dossier_page.h"

namespace headlight {

namespace {

/// Views with commas between them, "*" for all of them, "*-learn" for all but some, on whose figure and on
/// whose numbers an option acts.
struct HeardRow {
    const char* option;
    const char* figures;
    const char* numbers;
};

constexpr const char* kOfRuns = "*-model,circuits,positions,corpus";  // all that weights alone do not make

constexpr HeardRow kHeard[] = {
    {"mask", kOfRuns, kOfRuns},
    {"ablate", kOfRuns, kOfRuns},
    {"change", kOfRuns, kOfRuns},
    {"temperature-attn", kOfRuns, kOfRuns},
    {"layer",
     "head,lines,steps,delta,text,model,positions,origins,circuits,learn,compare,alignment,picture,influence,"
     "corpus",
     "head,lines,steps,delta,text,model,positions,origins,circuits,learn,compare,alignment,picture,influence,"
     "corpus"},
    {"head",
     "head,lines,steps,delta,text,model,positions,origins,circuits,learn,compare,alignment,picture,patch,"
     "influence,"
     "corpus",
     "head,lines,steps,text,model,origins,circuits,learn,compare,alignment,picture,patch,influence,corpus"},
    {"all-heads",
     "head,lines,steps,text,model,positions,origins,circuits,learn,compare,alignment,picture,corpus",
     "head,lines,steps,text,model,origins,circuits,learn,compare,alignment,picture,corpus"},
    {"cell", "lines,steps,delta,lens,graph,text,origins,compare,alignment,picture",
     "steps,delta,lens,graph,text,origins"},
    {"with", "compare", "compare"},
    {"text-b", "compare,patch,influence", "compare,patch,influence"},
    {"model-b", "compare", "compare"},
    {"show", "compare", "compare"},
    {"metric", "delta,lens,graph,patch,influence", "delta,lens,graph,patch,influence"},
    {"what", "patch", "patch"},
    {"mean", "head,text,alignment,picture", "head,text,alignment,picture"},
    {"max", "head,text,picture", "head,text,picture"},
    {"hard", "alignment", ""},
    {"as-lines", "alignment", ""},
    {"origins", "graph", "graph"},
    {"flow", "graph", "graph"},
    {"sink-apart", "graph", ""},
    {"share", "lines,graph", ""},
    {"heads", "lines,graph", "lines,graph"},
    {"corpus", "corpus", "corpus"},
    {"graph", "circuits", ""},
    {"strongest", "circuits", ""},
    {"influence", "influence", "influence"},
    {"after", "influence", "influence"},
    {"probes", "influence", "influence"},
    {"beside", "influence", "influence"},
    {"method", "influence", "influence"},
    {"baseline", "influence", "influence"},
    {"points", "influence", "influence"},
    {"parts", "influence", "influence"},
    {"architecture", "model", "model"},
    {"part", "model", "model"},
    {"steps", "steps", "steps"},
    {"size", "*", ""},
    {"preset", "*", "head,text,alignment,picture"},  // it may join words or drop the sink
    {"width-mm", "*", ""},
    {"height-mm", "*-learn", ""},
    {"width-px", "*", ""},
    {"height-px", "*-learn", ""},
    {"dpi", "*", ""},
    {"font-pt", "*", ""},
    {"title", "*", ""},
    {"caption", "*", ""},
    {"transparent", "*", ""},
    {"methods", "*-learn", ""},
    {"colormap", "head,heads,steps,delta,lens,text,circuits,learn,compare,alignment,picture,influence,corpus",
     ""},
    {"contrast", "head,heads,text,alignment,picture", ""},
    {"scale", "head,heads,text,alignment,picture", ""},
    {"queries", "head,heads", ""},
    {"marks", "head,heads", ""},
    {"turn-labels", "head", ""},
    {"labels", "head,heads", ""},
    {"no-labels", "head,heads", ""},
    {"axis-titles", "head", ""},
    {"no-axis-titles", "head", ""},
    {"color-bar", "head", ""},
    {"no-color-bar", "head", ""},
    {"grid-lines", "head", ""},
    {"values", "head", ""},
    {"join-words", "head,alignment", "head,alignment"},
    {"drop-sink", "head,text", "head,text,picture"},
    {"tokens", "head", "head"},
    {"keys", "head", "head"},
    {"only-heads", "heads", ""},
};

/// Where an option acts beside others alone.
struct BesideRow {
    const char* options;  // with commas between them
    const char* views;    // as above
    bool (*act)(const RenderOptions&);
    const char* with;  // what they go with
};

using Asked = RenderOptions;

bool of_one_head(const Asked& o) { return !o.mean && !o.max; }
bool of_heads_of_layer(const Asked& o) {
    const auto of_layer = [](const auto& of) { return !of || of->empty() || *of == "layer"; };
    return of_layer(o.mean) && of_layer(o.max);
}
bool is_open_model(const Asked& o) { return o.architecture.empty(); }
bool of_pattern(const Asked& o) { return o.show == "pattern" || !is_numbers_path(o.output); }
bool shows_labels(const Asked& o) { return o.figure.labels; }
bool integrates(const Asked& o) { return o.method == "integrated-gradients"; }
bool maps_hidden(const Asked& o) { return o.influence == "hidden"; }

constexpr const char* kOneHead = "one head, not with --mean or --max";

constexpr BesideRow kBeside[] = {
    {"dpi", "*", [](const Asked& o) { return o.output.ends_with(".png"); }, "a .png"},
    {"head,all-heads", "head,text,alignment,picture", of_one_head, kOneHead},
    {"mean", "alignment", of_heads_of_layer, "the layer's heads alone in --view alignment"},
    {"layer", "head,text,picture", of_heads_of_layer, "one head, or the heads of a layer"},
    {"head,all-heads", "lines", [](const Asked& o) { return o.shown_heads.empty(); },
     "the heads of a layer, not with --heads"},
    {"no-axis-titles,no-color-bar,axis-titles,color-bar,turn-labels", "head", shows_labels,
     "labels, not with --no-labels"},
    {"colormap,contrast", "alignment", [](const Asked& o) { return !o.as_lines; },
     "a map, not with --as-lines"},
    {"contrast", "alignment", [](const Asked& o) { return !o.hard; }, "weights, not with --hard"},
    {"colormap", "steps", [](const Asked& o) { return o.steps == "heads"; }, "--steps heads"},
    {"colormap", "circuits", [](const Asked& o) { return !o.graph; }, "a map, not with --graph"},
    {"strongest", "circuits", [](const Asked& o) { return o.graph; }, "--graph"},
    {"metric", "graph", [](const Asked& o) { return o.origins == "relevance"; }, "--origins relevance"},
    {"layer,head,all-heads", "compare", of_pattern, "--show pattern, or a figure"},
    {"cell", "compare", [](const Asked& o) { return o.show != "delta"; }, "--show pattern or next"},
    {"colormap", "compare", [](const Asked& o) { return o.show != "next"; }, "--show pattern or delta"},
    {"mask,ablate,change,temperature-attn", "patch", [](const Asked& o) { return o.text_b.empty(); },
     "one text, whose unchanged run is the clean one, not with --text-b"},
    {"head", "patch", [](const Asked& o) { return o.put == "head"; }, "--what head"},
    {"part,layer,head,all-heads", "model", is_open_model, "the open model, not with --architecture"},
    {"head,all-heads", "model", [](const Asked& o) { return o.part == "attention"; }, "--part attention"},
    {"layer", "model",
     [](const Asked& o) { return o.part.starts_with("attention") || o.part.starts_with("mlp"); },
     "a --part of a layer"},
    {"baseline,points", "influence", integrates, "--method integrated-gradients"},
    {"text-b", "influence",
     [](const Asked& o) {
         return o.method == "attribution-patching" || (integrates(o) && o.baseline == "text");
     },
     "--method attribution-patching, or with integrated-gradients and --baseline text"},
    {"after,probes", "influence", maps_hidden, "--influence hidden"},
    {"head", "influence", [](const Asked& o) { return o.beside == "head"; }, "--beside head"},
    {"layer", "influence",
     [](const Asked& o) {
         return o.beside == "head" || o.beside == "layer" || o.layer.find('.') != o.layer.npos;
     },
     "--beside head or layer"},
};

bool lists(std::string_view list, const std::string& item) {
    if (list.starts_with('*')) return list.size() == 1 || !lists(list.substr(2), item);
    return ("," + std::string(list) + ",").find("," + item + ",") != std::string::npos;
}

/// "--view head or lines"; "another --view" of a list of those left out.
std::string named_views(std::string_view list) {
    if (list.starts_with('*')) return "another --view";
    std::string out = "--view " + std::string(list);
    for (size_t at = 0; (at = out.find(',', at)) != std::string::npos; ++at) out.replace(at, 1, ", ");
    if (const size_t last = out.rfind(", "); last != std::string::npos) out.replace(last, 2, " or ");
    return out;
}

}  // namespace

Status check_heard(const RenderOptions& o) {
    const bool numbers = is_numbers_path(o.output);
    if (o.view == "corpus" && is_dossier_path(o.output))
        TRY_STATUS(
            refuse_given(o.given, {"layer", "head"}, "the sheet of one head, and a dossier is of all"));
    for (const HeardRow& row : kHeard) {
        if (!o.given.count(row.option) || lists(numbers ? row.numbers : row.figures, o.view)) continue;
        const std::string option = "--" + std::string(row.option);
        if (!lists(row.figures, o.view))
            return Error{option + " does not act on --view " + o.view + "; leave it out" +
                         (*row.figures ? ", or draw " + named_views(row.figures) : std::string()) + "."};
        return Error{option + " changes the figure of --view " + o.view +
                     " and not its numbers; leave it out, or end -o in .png, .svg or .pdf."};
    }
    for (const BesideRow& row : kBeside)
        if (lists(row.views, o.view) && !row.act(o))
            for (const std::string& option : comma_list(row.options))
                TRY_STATUS(refuse_given(o.given, {option}, row.with));
    return success();
}

namespace {

bool layers_rotate_alike(const ModelConfig& c) {
    const StackConfig& stack = c.stacks[0];
    for (int layer = 1; layer < stack.layers; ++layer)
        if (&c.rope_of(stack, layer) != &c.rope_of(stack, 0)) return false;
    return true;
}

/// Where an option acts on some models alone.
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
