// Which options act on which views: what does not act is refused, and never unheard.
#include "base/quoted.h"
#include "cli/render.h"
#include "cli/usage.h"
#include "io/numbers.h"
#include "session/dossier_page.h"

namespace headlight {

namespace {

/// Views with commas between them, "*" for all of them, on whose figure and on whose numbers an option acts.
struct HeardRow {
    const char* option;
    const char* figures;
    const char* numbers;
};

constexpr HeardRow kHeard[] = {
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
    {"cell", "lines,steps,delta,lens,graph,text,origins,compare,alignment,picture,learn",
     "steps,delta,lens,graph,text,origins,learn"},
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
    {"height-mm", "*", ""},
    {"width-px", "*", ""},
    {"height-px", "*", ""},
    {"dpi", "*", ""},
    {"font-pt", "*", ""},
    {"title", "*", ""},
    {"caption", "*", ""},
    {"transparent", "*", ""},
    {"methods", "*", ""},
    {"colormap",
     "head,heads,steps,delta,lens,text,model,circuits,learn,compare,alignment,picture,influence,corpus", ""},
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

bool lists(std::string_view list, const std::string& view) {
    return list == "*" || ("," + std::string(list) + ",").find("," + view + ",") != std::string::npos;
}

/// "--view head or lines".
std::string named_views(std::string_view list) {
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
    if (o.view == "graph" && o.given.count("metric") && o.origins != "relevance")
        return Error{
            "--metric acts on --view graph with --origins relevance alone; add that, or leave it out."};
    return success();
}

}  // namespace headlight
