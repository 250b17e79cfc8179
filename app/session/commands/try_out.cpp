#include "session/commands/try_out.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "session/commands/commands.h"

namespace headlight {

namespace {

Look look_of(const Session& session) {
    const Selection& s = session.selection;
    return {session.document.wanted.path,
            s.view,
            s.block,
            s.head,
            s.head_chosen,
            session.document.sweeping,
            s.locked,
            session.preferences.rank};
}

/// The words that others lack.
std::vector<std::string> without(const std::vector<std::string>& words,
                                 const std::vector<std::string>& others) {
    std::vector<std::string> out;
    for (const std::string& word : words)
        if (std::find(others.begin(), others.end(), word) == others.end()) out.push_back(word);
    return out;
}

/// Whether a field that an edit changed still has the new value, or none of it changed.
template <class T>
bool holds(const T& before, const T& after, const T& now) {
    return before == after || now == after;
}

/// The inverse of an edit if its effect still holds, whatever happened since; else nothing. `partly`: for the
/// view, the part that still holds.
struct TakenBack {
    const Session& session;
    bool partly;
    using Back = std::optional<Edit>;

    template <class E, class Now>
    static Back whole(const E& edit, const Now& now) {
        return now == edit.after ? Back(reversed(edit)) : std::nullopt;
    }
    Back operator()(const TextEdit& e) const {
        const Edit back = reversed(e);
        return edited(session.document.named(e.text), std::get<TextEdit>(back)) ? Back(back) : std::nullopt;
    }
    Back operator()(const MetricEdit& e) const { return whole(e, session.document.metric); }
    Back operator()(const ModelEdit&) const { return std::nullopt; }  // covered by the view
    Back operator()(const InterventionEdit& e) const {
        const Intervention& now = session.document.intervention;
        Intervention back = now;
        if (!holds(e.before.mask, e.after.mask, now.mask) ||
            !holds(e.before.changes, e.after.changes, now.changes))
            return std::nullopt;
        if (e.before.mask != e.after.mask) back.mask = e.before.mask;
        if (e.before.changes != e.after.changes) back.changes = e.before.changes;
        return InterventionEdit{now, std::move(back), e.model};
    }
    Back operator()(const ComparisonEdit& e) const { return whole(e, session.document.comparison); }
    Back operator()(const HeadLabelEdit& e) const {
        const auto& all = session.document.head_labels;
        const auto model = all.find(e.model);
        const bool named = model != all.end() && model->second.count(e.head) > 0;
        return whole(e, named ? model->second.at(e.head) : std::string());
    }
    Back operator()(const ViewEdit& e) const {
        const std::vector<std::string> now = e.view->read(session, e.part),
                                       added = without(e.after, e.before),
                                       removed = without(e.before, e.after);
        if (!without(added, now).empty() || without(removed, now) != removed) return std::nullopt;
        std::vector<std::string> back = without(now, added);
        back.insert(back.end(), removed.begin(), removed.end());
        return ViewEdit{e.view, e.part, now, std::move(back)};
    }
    Back operator()(const LookEdit& e) const {
        const Look now = look_of(session);
        Look back = now;
        const auto take_back = [&](auto Look::*field) {
            if (!holds(e.before.*field, e.after.*field, now.*field)) return false;
            if (e.before.*field != e.after.*field) back.*field = e.before.*field;
            return true;
        };
        bool all = true;
        const auto take_each = [&](auto... fields) { ((all = take_back(fields) && all), ...); };
        take_each(&Look::model, &Look::view, &Look::sweeping, &Look::rank);
        const bool another = e.before.model != e.after.model;  // decides whose heads and cells these are
        if (!another)
            take_each(&Look::block, &Look::head, &Look::head_chosen, &Look::locked);
        else if (now.model == e.after.model)
            std::tie(back.block, back.head, back.head_chosen, back.locked) =
                std::tie(e.before.block, e.before.head, e.before.head_chosen, e.before.locked);
        return all || partly ? Back(LookEdit{now, std::move(back)}) : std::nullopt;
    }
    Back operator()(const TrialEdit& e) const { return whole(e, session.document.trial); }
};

std::optional<Edit> taken_back(const Session& session, const Edit& edit, bool partly = false) {
    return std::visit(TakenBack{session, partly}, edit);
}

/// Whether an edit applies to the open model: not to another model's attention or tokens.
bool concerns(const Session& session, const Edit& edit) {
    const std::string& open = session.document.open.path;
    if (const auto* e = std::get_if<InterventionEdit>(&edit)) return e->model == open;
    if (const auto* e = std::get_if<MetricEdit>(&edit)) return e->model == open;
    return true;
}

/// Runs the commands of a try from `begin` on until one waits for a model; returns where it stopped.
Result<size_t> go_through(CommandContext& c, std::span<const CommandLine> lines, size_t begin, Trial& trial) {
    Document& d = c.session.document;
    const size_t first = d.history.group().size();
    const Look look = look_of(c.session);
    for (; begin < lines.size() && !d.awaits_model(); ++begin) TRY_STATUS(carry_out(lines[begin], c));
    d.history.note(LookEdit{look, look_of(c.session)});
    std::erase_if(trial.edits, [](const Edit& e) { return std::holds_alternative<LookEdit>(e); });
    for (size_t i = first; i < d.history.group().size(); ++i)
        if (const Edit& edit = d.history.group()[i]; !std::holds_alternative<LookEdit>(edit))
            trial.edits.push_back(edit);
    if (const Look now = look_of(c.session); now != trial.before)
        trial.edits.push_back(LookEdit{trial.before, now});
    return begin;
}

/// Records the active try, or returns why it failed.
Status run_trial(CommandContext& c, Trial trial, std::span<const CommandLine> lines, size_t begin) {
    Document& d = c.session.document;
    TRY(const size_t end, go_through(c, lines, begin, trial));
    const auto before = std::exchange(d.trial, std::make_shared<const Trial>(std::move(trial)));
    d.history.note(TrialEdit{before, d.trial});
    if (end < lines.size()) d.pending_trial = end;
    return success();
}

}  // namespace

bool trial_is_active(const Session& session) {
    const auto& trial = session.document.trial;
    bool any = false;
    for (const Edit& edit : trial ? std::span<const Edit>(trial->edits) : std::span<const Edit>()) {
        if (!concerns(session, edit)) continue;
        if (!taken_back(session, edit)) return false;
        any = true;
    }
    return any || (trial && (trial->edits.empty() || session.document.pending_trial));
}

bool trial_is_active(const Session& session, const std::string& commands) {
    return session.document.trial && session.document.trial->commands == commands && trial_is_active(session);
}

void undo_trial(CommandContext& c) {
    Document& d = c.session.document;
    d.pending_trial.reset();
    const auto trial = std::exchange(d.trial, nullptr);
    if (!trial) return;
    const std::string text = c.host.text(TextName::sentence);
    for (auto edit = trial->edits.rbegin(); edit != trial->edits.rend(); ++edit)
        if (const auto back =
                concerns(c.session, *edit) ? taken_back(c.session, *edit, true) : std::nullopt) {
            put_edit(*back, c.session, c.host);
            d.history.note(*back);
        }
    Selection& s = c.session.selection;
    if (const std::string& now = c.host.text(TextName::sentence); now != text) s.lock_in(now, s.locked);
    d.history.note(TrialEdit{trial, nullptr});
}

namespace {

/// One undo step; on failure, nothing changes.
template <class Act>
Status as_one_step(CommandContext& c, bool goes_on, Act act) {
    History& history = c.session.document.history;
    const History before = goes_on ? History() : history;
    Status done = success();
    bool noted = false;
    {
        const HistoryGroup group(history, goes_on);
        done = act();
        noted = !history.group().empty();
    }
    if (done || !noted) return done;
    undo(c.session, c.host);
    if (goes_on)
        history.clear_redo();
    else
        history = before;
    return done;
}

}  // namespace

Status try_out(CommandContext& c, const std::string& commands, std::span<const CommandLine> lines) {
    return as_one_step(c, false, [&]() -> Status {
        const bool ends = trial_is_active(c.session, commands);
        undo_trial(c);
        return ends ? success() : run_trial(c, {commands, {}, look_of(c.session)}, lines, 0);
    });
}

bool trial_can_resume(const CommandContext& c) {
    const Document& d = c.session.document;
    return d.trial && d.pending_trial && c.sentence() && !d.awaits_model();
}

Status resume_trial(CommandContext& c, std::span<const CommandLine> lines) {
    Document& d = c.session.document;
    const size_t begin = *std::exchange(d.pending_trial, std::nullopt);
    const Edit* last = d.history.last();
    const auto* began = last ? std::get_if<TrialEdit>(last) : nullptr;
    return as_one_step(c, began && began->after, [&] { return run_trial(c, *d.trial, lines, begin); });
}

}  // namespace headlight
