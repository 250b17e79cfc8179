#include "session/trial.h"

#include <algorithm>
#include <memory>

#include "session/commands.h"

namespace headlight {

namespace {

Look look_of(const Session& session) {
    const Selection& s = session.selection;
    return {session.document.model_path, s.view,  s.block, s.head, s.head_chosen,
            session.document.sweeping,   s.locked};
}

const std::string& text_of(const Document& d, int which) {
    if (which == static_cast<int>(TextName::sentence)) return d.text;
    return which == static_cast<int>(TextName::second) ? d.second : d.comparison.text;
}

/// Those of some words that others lack.
std::vector<std::string> without(const std::vector<std::string>& words,
                                 const std::vector<std::string>& others) {
    std::vector<std::string> out;
    for (const std::string& word : words)
        if (std::find(others.begin(), others.end(), word) == others.end()) out.push_back(word);
    return out;
}

/// A field that an edit changed has the value that it got, or none of it was changed.
template <class T>
bool holds(const T& before, const T& after, const T& now) {
    return before == after || now == after;
}

/// What takes an edit back where what it did is still so, whatever else was done since; nothing where it is
/// not.
struct TakenBack {
    const Session& session;
    using Back = std::optional<Edit>;

    template <class E, class Now>
    static Back whole(const E& edit, const Now& now) {
        return now == edit.after ? Back(reversed(edit)) : std::nullopt;
    }
    Back operator()(const TextEdit& e) const {
        const std::string& now = text_of(session.document, e.text);
        return e.at <= now.size() && now.substr(e.at) == e.inserted ? Back(reversed(e)) : std::nullopt;
    }
    Back operator()(const InterventionEdit& e) const {
        const Intervention& now = session.document.intervention;
        Intervention back = now;
        if (!holds(e.before.mask, e.after.mask, now.mask) ||
            !holds(e.before.changes, e.after.changes, now.changes))
            return std::nullopt;
        if (e.before.mask != e.after.mask) back.mask = e.before.mask;
        if (e.before.changes != e.after.changes) back.changes = e.before.changes;
        return InterventionEdit{now, std::move(back)};
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
        const bool all = take_back(&Look::model) && take_back(&Look::view) && take_back(&Look::block) &&
                         take_back(&Look::head) && take_back(&Look::head_chosen) &&
                         take_back(&Look::sweeping) && take_back(&Look::locked);
        return all ? Back(LookEdit{now, std::move(back)}) : std::nullopt;
    }
    Back operator()(const TrialEdit& e) const { return whole(e, session.document.trial); }
};

std::optional<Edit> taken_back(const Session& session, const Edit& edit) {
    return std::visit(TakenBack{session}, edit);
}

}  // namespace

bool trial_in_force(const Session& session) {
    const auto& trial = session.document.trial;
    return trial && std::all_of(trial->edits.begin(), trial->edits.end(),
                                [&](const Edit& edit) { return taken_back(session, edit).has_value(); });
}

bool trial_in_force(const Session& session, const std::string& commands) {
    return session.document.trial && session.document.trial->commands == commands && trial_in_force(session);
}

void take_back_trial(CommandContext& c) {
    Document& d = c.session.document;
    const auto trial = std::exchange(d.trial, nullptr);
    if (!trial) return;
    for (auto edit = trial->edits.rbegin(); edit != trial->edits.rend(); ++edit)
        if (const auto back = taken_back(c.session, *edit)) {
            put_edit(*back, c.session, c.host);
            d.history.note(*back);
        }
    d.history.note(TrialEdit{trial, nullptr});
}

Status try_out(CommandContext& c, const std::string& commands, std::span<const CommandLine> lines) {
    Document& d = c.session.document;
    d.history.begin_group();
    const bool ends = trial_in_force(c.session, commands);
    take_back_trial(c);
    const size_t first = d.history.group().size();
    const Look look = look_of(c.session);
    Status done = success();
    for (const CommandLine& line : lines)
        if (!ends && done) done = carry_out(line, c);
    d.history.note(LookEdit{look, look_of(c.session)});
    if (!ends && done) {
        const auto& all = d.history.group();
        d.trial = std::make_shared<const Trial>(
            Trial{commands, {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()}});
        d.history.note(TrialEdit{nullptr, d.trial});
    }
    const bool noted = !d.history.group().empty();
    d.history.end_group();
    if (!done && noted) undo(c.session, c.host);
    return done;
}

void forget_model(std::shared_ptr<const Trial>& trial) {
    if (!trial) return;
    Trial kept = *trial;
    std::erase_if(kept.edits, is_of_model);
    trial = kept.edits.empty() ? nullptr : std::make_shared<const Trial>(std::move(kept));
}

}  // namespace headlight
