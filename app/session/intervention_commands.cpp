// What is changed in the pass, as the command line spells it; and undo.
#include <algorithm>
#include <tuple>

#include "base/quoted.h"
#include "session/commands.h"

namespace headlight {

namespace {

/// What only one change of can be in force at a place: each ablation and freezing say what a head does,
/// masking and unmasking whether cells are seen.
bool same_concern(ChangeKind a, ChangeKind b) {
    const auto of_head = [](ChangeKind k) { return change_row(k).ablates || k == ChangeKind::freeze; };
    const auto of_cells = [](ChangeKind k) { return change_row(k).target == ChangeTarget::cells; };
    return a == b || (of_head(a) && of_head(b)) || (of_cells(a) && of_cells(b));
}

bool excludes(const Change& a, const Change& b) {
    const auto place = [](const Change& c) {
        return std::tie(c.block, c.head, c.blocks, c.query, c.key, c.queries, c.keys);
    };
    return same_concern(a.kind, b.kind) && place(a) == place(b);
}

}  // namespace

void put_change(Document& document, const Change& change) {
    Intervention next = document.intervention;
    const bool in_force = std::find(next.changes.begin(), next.changes.end(), change) != next.changes.end();
    std::erase_if(next.changes, [&](const Change& other) { return excludes(other, change); });
    const bool changes_nothing = change.kind == ChangeKind::temperature && change.value == 1;
    if (!in_force && !changes_nothing) next.changes.push_back(change);
    document.intervene(std::move(next));
}

namespace {

const char* kIntervene = "Intervene";

const char* needs_changes(const CommandContext& c) {
    return c.session.document.intervention == Intervention{} ? "There are no interventions to remove."
                                                             : nullptr;
}

/// A row whose words are those behind the colon of --change.
Command change_row(const std::string& kind, const char* words, const char* title, const char* help) {
    return {.name = kind,
            .words = words,
            .title = title,
            .group = kIntervene,
            .help = help,
            .when = needs_weights,
            .run = [kind](CommandContext& c, const std::string& words) -> Status {
                TRY(const Change change, parse_change(c.model()->config, kind + ":" + words));
                put_change(c.session.document, change);
                return success();
            }};
}

/// "16>10@2.0" masks cells, "window:4" puts a mask in force.
Status set_mask(CommandContext& c, const std::string& words) {
    Intervention next = c.session.document.intervention;
    if (words.find('>') != std::string::npos) {
        TRY(const Change change, parse_change(c.model()->config, "mask:" + words));
        put_change(c.session.document, change);
        return success();
    }
    TRY(next.mask, Mask::parse(words));
    c.session.document.intervene(std::move(next));
    return success();
}

/// "own|none|…|window:N|QUERY>KEY@PLACE"
std::string mask_words() {
    std::string out;
    for (const MaskKind& kind : mask_kinds()) {
        out += kind.name;
        for (int i = 0; i < kind.numbers; ++i) out += ":N";
        out += '|';
    }
    return out + "QUERY>KEY@PLACE";
}

/// The selected head, or one that is named with how: "3.5:mean".
Status ablate(CommandContext& c, const std::string& words) {
    const Selection& s = c.session.selection;
    Change change;
    std::tie(change.block, change.head) = std::pair{s.block, s.head};
    if (!words.empty()) {
        TRY(change, parse_ablation(c.model()->config, words));
    }
    put_change(c.session.document, change);
    return success();
}

Status remove_all(CommandContext& c, const std::string&) {
    c.session.document.intervene({});
    return success();
}

Status sweep_token(CommandContext& c, const std::string& words) {
    const auto id = whole_of(words);
    if (!id || *id < 0 || *id >= c.model()->config.vocab)
        return Error{"There is no token " + in_quotes(words) + "; write its id."};
    c.session.document.sweep_token = *id;
    c.session.document.sweeping = true;
    return success();
}

struct Applied {
    Session& session;
    Host& host;

    void operator()(const TextEdit& edit) { host.apply(edit); }
    void operator()(const InterventionEdit& edit) { session.document.intervention = edit.after; }
    void operator()(const ComparisonEdit& edit) {
        Comparison& now = session.document.comparison;
        const uint64_t attempt = now.attempt + (edit.after.model != now.model ? 1 : 0);
        now = edit.after;
        now.attempt = attempt;
    }
    void operator()(const HeadLabelEdit& edit) {
        session.document.put_label(edit.model, edit.head, edit.after);
    }
};

void apply(const std::optional<Edit>& edit, Session& session, Host& host) {
    if (edit) std::visit(Applied{session, host}, *edit);
}

}  // namespace

void undo(Session& session, Host& host) { apply(session.document.history.undo(), session, host); }
void redo(Session& session, Host& host) { apply(session.document.history.redo(), session, host); }

std::vector<Command> intervention_commands() {
    return {
        {.name = "undo",
         .title = "Undo",
         .group = "Edit",
         .keys = "Ctrl+Z",
         .help = "undo: text, interventions, comparison, labels",
         .run =
             [](CommandContext& c, const std::string&) {
                 undo(c.session, c.host);
                 return success();
             }},
        {.name = "redo",
         .title = "Redo",
         .group = "Edit",
         .keys = "Ctrl+Y, Ctrl+Shift+Z",
         .help = "redo",
         .run =
             [](CommandContext& c, const std::string&) {
                 redo(c.session, c.host);
                 return success();
             }},
        {.name = "mask",
         .words = mask_words(),
         .title = "Mask",
         .group = kIntervene,
         .help = "set the mask, or mask cells: mask window:4, mask 16>10@2.0",
         .when = needs_weights,
         .run = set_mask},
        change_row("unmask", "QUERY>KEY@PLACE", "Unmask a cell", "let a query see a key: unmask 3>9"),
        change_row("score", "QUERY>KEY@PLACE=NUMBER", "Set a score",
                   "what enters the softmax: score 16>10@2.0=4.5"),
        change_row("temperature", "NUMBER@PLACE", "Temperature", "divide the scores: temperature 0.5@2.0"),
        change_row("freeze", "LAYER.HEAD=TEXT", "Freeze a head",
                   "give a head the pattern it has on another text"),
        change_row("skip-attention", "LAYER", "Skip attention", "leave a layer's attention out"),
        change_row("skip-mlp", "LAYER", "Skip the MLP", "leave a layer's MLP out"),
        change_row("positions", "off|shuffle:SEED@PLACE", "Positions",
                   "switch positions off, or shuffle them: positions off, positions shuffle:7"),
        {.name = "ablate",
         .words = "[LAYER.HEAD:HOW]",
         .title = "Ablate head",
         .group = kIntervene,
         .help = "ablate the selected head, or another one: ablate 3.5:mean",
         .when = needs_weights,
         .run = ablate},
        {.name = "remove interventions",
         .title = "Remove all interventions",
         .group = kIntervene,
         .help = "remove all interventions",
         .when = needs_changes,
         .run = remove_all},
        switch_row({.name = "intervene",
                    .title = "Show the intervention bar",
                    .group = kIntervene,
                    .help = "the row of masks, brush, temperature and ablations"},
                   [](Session& s) -> bool& { return s.preferences.change_bar; }),
        switch_row({.name = "sweep",
                    .title = "Ablate each head in turn",
                    .group = kIntervene,
                    .help = "ablate each head in turn and watch a prediction",
                    .when = needs_weights},
                   [](Session& s) -> bool& { return s.document.sweeping; }),
        {.name = "sweep token",
         .words = "ID",
         .title = "Ablate each head in turn for a token",
         .group = kIntervene,
         .help = "ablate each head in turn and watch the token of this id",
         .when = needs_weights,
         .run = sweep_token},
    };
}

}  // namespace headlight
