// Commands of interventions, spelled as on the command line; and undo.
#include <algorithm>
#include <tuple>

#include "base/quoted.h"
#include "session/adopt.h"
#include "session/commands/commands.h"

namespace headlight {

namespace {

/// Groups changes that exclude each other at one place: each ablation and freezing sets a head's output,
/// masking and unmasking set whether cells are visible.
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
    const bool active = std::find(next.changes.begin(), next.changes.end(), change) != next.changes.end();
    std::erase_if(next.changes, [&](const Change& other) { return excludes(other, change); });
    const bool changes_nothing = change.kind == ChangeKind::temperature && change.value == 1;
    if (!active && !changes_nothing) next.changes.push_back(change);
    document.intervene(std::move(next));
}

namespace {

const char* needs_changes(const CommandContext& c) {
    return c.session.document.intervention == Intervention{} ? "There are no interventions to remove."
                                                             : nullptr;
}

/// A row whose words follow the colon of --change.
Command change_command(const CommandText& text) {
    Command out = row(text, CommandRun(), needs_model_to_run);
    out.run = [kind = out.name](CommandContext& c, const std::string& words) -> Status {
        TRY(const Change change, parse_change(c.model()->config, kind + ":" + words));
        put_change(c.session.document, change);
        return success();
    };
    return out;
}

/// "16>10@2.0" masks cells, "window:4" sets a mask.
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

/// Ablates the selected head, or a named one with its way: "3.5:mean".
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

/// Applies an edit; false if its target has changed. Edits for another model go to its kept interventions.
struct PutEdit {
    Session& session;
    Host& host;

    ModelChanges* kept(const std::string& model) {
        auto& all = session.document.changes_of;
        const auto found = all.find(model);
        return found == all.end() || !found->second.config ? nullptr : &found->second;
    }
    bool operator()(const TextEdit& edit) { return host.apply(edit); }
    bool operator()(const InterventionEdit& edit) {
        Document& d = session.document;
        if (edit.model == d.open.path) {
            d.intervention = edit.after;
            return true;
        }
        ModelChanges* of = kept(edit.model);
        if (!of) return false;
        of->mask = edit.after.mask.name();
        of->changes.clear();
        for (const Change& change : edit.after.changes)
            of->changes.push_back(change_name(*of->config, change));
        return true;
    }
    bool operator()(const ComparisonEdit& edit) {
        Comparison& now = session.document.comparison;
        const uint64_t attempt = now.attempt + (edit.after.model != now.model ? 1 : 0);
        std::string text = std::move(now.text);  // which has its own steps
        now = edit.after;
        now.text = std::move(text);
        now.attempt = attempt;
        return true;
    }
    bool operator()(const MetricEdit& edit) {
        Document& d = session.document;
        if (edit.model == d.open.path) {
            d.metric = edit.after;
            return true;
        }
        ModelChanges* of = kept(edit.model);
        if (of) of->metric = edit.after.name;
        return of != nullptr;
    }
    bool operator()(const HeadLabelEdit& edit) {
        session.document.put_label(edit.model, edit.head, edit.after);
        return true;
    }
    bool operator()(const ViewEdit& edit) {
        if (edit.view->read(session, edit.part) != edit.before) return false;
        edit.view->put(session, edit.part, edit.after);
        return true;
    }
    bool operator()(const LookEdit& edit) {
        const Look &from = edit.before, &to = edit.after;
        Selection& s = session.selection;
        if (from.model != to.model) open_again({to.model});
        if (from.view != to.view) s.view = to.view;
        if (from.block != to.block || from.head != to.head) s.choose(to.block, to.head);
        if (from.head_chosen != to.head_chosen) s.head_chosen = to.head_chosen;
        if (from.sweeping != to.sweeping) session.document.sweeping = to.sweeping;
        if (from.locked != to.locked) s.locked = to.locked;
        if (from.rank != to.rank) session.preferences.rank = to.rank;
        return true;
    }
    bool operator()(const ModelEdit& edit) {
        open_again(edit.after);
        return true;
    }
    bool operator()(const TrialEdit& edit) {
        session.document.trial = edit.after;
        session.document.pending_trial.reset();
        return true;
    }
    /// Joins the step in progress.
    void open_again(const OpenModel& model) {
        Document& d = session.document;
        d.pending_slide.reset();
        if (d.open.path == model.path) {
            stay_with_open(session);
            return choose_again(session, model);
        }
        if (d.wanted.path != model.path) choose_model(session, model.path);
        d.noted_attempt = d.wanted.attempt;
        d.reopened = model;
    }
};

const char* what_is_another(const Edit& edit) {
    if (const auto* e = std::get_if<TextEdit>(&edit))
        return e->text == TextName::sentence       ? "the sentence has changed since"
               : e->text == TextName::picture      ? "the image has changed since"
               : e->text == TextName::conversation ? "the conversation has changed since"
                                                   : "the second text has changed since";
    return std::holds_alternative<ViewEdit>(edit) ? "that selection has changed since"
                                                  : "its model was not open in this workspace";
}

/// Skips what does not fit, and reports it.
void put_in_sight(const std::vector<Edit>& edits, Session& session, Host& host) {
    for (const Edit& edit : edits) {
        if (!put_edit(edit, session, host)) {
            session.notice = std::string("Skipped a step: ") + what_is_another(edit) + ".";
            continue;
        }
        if (const auto* of_view = std::get_if<ViewEdit>(&edit)) of_view->view->show(session, of_view->part);
    }
}

}  // namespace

const char* outside_group(const CommandContext& c) {
    return c.session.document.history.grouping()
               ? "A try is one step of undo, so it cannot contain this command."
               : nullptr;
}

bool put_edit(const Edit& edit, Session& session, Host& host) {
    return std::visit(PutEdit{session, host}, edit);
}

void undo(Session& session, Host& host) { put_in_sight(session.document.history.undo(), session, host); }
void redo(Session& session, Host& host) { put_in_sight(session.document.history.redo(), session, host); }

namespace {

void go_to_step(CommandContext& c, size_t step) {
    const History& history = c.session.document.history;
    while (history.steps() > step) undo(c.session, c.host);
    while (history.steps() < step && history.undone() > 0) redo(c.session, c.host);
}

Status go_to_named_step(CommandContext& c, const std::string& words) {
    const History& history = c.session.document.history;
    TRY(const double step,
        number_within("history go", words, 0, double(history.steps() + history.undone()), true));
    go_to_step(c, size_t(step));
    return success();
}

const char* has_steps(const CommandContext& c) {
    const History& history = c.session.document.history;
    if (const char* why = outside_group(c)) return why;
    return history.steps() + history.undone() > 0 ? nullptr : "Nothing has been changed yet.";
}

std::vector<Command> history_commands() {
    return in_group(
        "Edit",
        {also_called("take back", row(
                                      {"undo", "Undo", "take back the last change", "Ctrl+Z"},
                                      [](CommandContext& c) { undo(c.session, c.host); }, outside_group)),
         row(
             {"redo", "Redo", "redo", "Ctrl+Y, Ctrl+Shift+Z"},
             [](CommandContext& c) { redo(c.session, c.host); }, outside_group),
         also_called("undo list, steps, earlier, versions",
                     row({"history", "History", "list the steps; click one to go there", "F4"},
                         [](CommandContext& c) { c.session.toggle(Sheet::history); })),
         row({"history go NUMBER", "Go to a step", "undo or redo up to a step; 0 is the start"},
             go_to_named_step, has_steps),
         also_called("undo all, reset, original",
                     row(
                         {"history start", "Back to the start", "undo all steps"},
                         [](CommandContext& c) { go_to_step(c, 0); }, has_steps))});
}

std::vector<Command> change_commands() {
    return in_group(
        "Intervene",
        {row({"mask " + mask_words(), "Mask", "set the mask, or mask cells: mask window:4, mask 16>10@2.0"},
             set_mask, needs_model_to_run),
         change_command(
             {"unmask QUERY>KEY@PLACE", "Unmask a cell", "let a query attend to a key: unmask 3>9"}),
         change_command({"score QUERY>KEY@PLACE=NUMBER", "Set a score",
                         "set the score that enters the softmax: score 16>10@2.0=4.5"}),
         change_command(
             {"temperature NUMBER@PLACE", "Temperature", "divide the scores: temperature 0.5@2.0"}),
         change_command(
             {"freeze LAYER.HEAD=TEXT", "Freeze a head", "give a head the pattern it has on another text"}),
         change_command({"skip-attention LAYER", "Skip attention", "skip a layer's attention"}),
         change_command({"skip-mlp LAYER", "Skip the MLP", "skip a layer's MLP"}),
         change_command({"ablate-expert LAYER.EXPERT", "Switch an expert off", "leave out what it adds"}),
         change_command({"positions off|shuffle:SEED@PLACE", "Positions",
                         "switch positions off, or shuffle them: positions off, positions shuffle:7"}),
         change_command({"patch-resid POSITIONS@LAYER=TEXT", "Patch the residual stream",
                         "patch a layer's input with another text's: patch-resid 4@2=TEXT"}),
         change_command({"patch-attention POSITIONS@LAYER=TEXT", "Patch attention",
                         "patch a layer's attention output with another text's"}),
         change_command({"patch-mlp POSITIONS@LAYER=TEXT", "Patch the MLP",
                         "patch a layer's MLP output with another text's"}),
         change_command({"patch-head POSITIONS@LAYER.HEAD=TEXT", "Patch a head",
                         "patch a head's z with another text's: patch-head *@2.0=TEXT"}),
         change_command({"noise POSITIONS=SEED", "Noise", "add noise to tokens' embeddings: noise 3-5=7"}),
         row({"ablate [LAYER.HEAD:HOW]", "Ablate head",
              "ablate the selected head, or another one: ablate 3.5:mean"},
             ablate, needs_model_to_run),
         row(
             {"remove interventions", "Remove all interventions", "remove all interventions"},
             [](CommandContext& c) { c.session.document.intervene({}); }, needs_changes),
         switch_row({"intervene", "Show the intervention bar",
                     "the bar with masks, brush, temperature and ablations"},
                    preference(&Preferences::change_bar)),
         switch_row(
             {"sweep", "Ablate each head in turn", "ablate each head in turn and measure the metric"},
             [](Session& s) -> bool& { return s.document.sweeping; }, needs_model_to_run)});
}

}  // namespace

std::vector<Command> intervention_commands() { return joined({history_commands(), change_commands()}); }

}  // namespace headlight
