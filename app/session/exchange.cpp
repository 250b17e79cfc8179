#include "session/exchange.h"

#include <algorithm>
#include <tuple>

#include "base/cast.h"
#include "session/trial.h"

namespace headlight {

bool reads_two_texts(const ModelConfig& config) { return config.can.read_pair || config.can.write_target; }

namespace {

GenerationAsked generation_asked(Document& d) {
    GenerationState& g = d.generation;
    const std::string now = d.model_path + '\n' + d.text;
    if (g.forced_for != now) {
        g.forced_for = now;
        g.unforce();
        g.playing = false;
    }
    GenerationAsked asked{{g.decoding, g.length, g.forced}, g.bar, g.step};
    asked.wanted.length = std::max(asked.wanted.length, isize(g.forced));
    return asked;
}

/// What was changed in the last model is over, unless it waited for this one.
void take_model(Session& session, const WorkAnswer& now) {
    Document& d = session.document;
    d.intervention = {};
    d.history.forget_model();
    forget_model(d.trial, d.trial_waits.has_value());
    d.sweeping = false;
    restore_metric(session, *now.sentence->model);
    if (d.changes_wait) restore_changes(session, now.sentence->model->config);
    auto& recent = session.preferences.recent_models;
    if (now.model_path.find('/') != std::string::npos)
        note_recent(recent, now.model_path);
    else
        recent.erase(std::remove(recent.begin(), recent.end(), now.model_path), recent.end());
}

void take_failures(Session& session, const WorkAnswer* before, const WorkAnswer& now) {
    const bool anew =
        !before || before->model_attempt != now.model_attempt || before->model_error != now.model_error;
    if (!now.model_error.empty() && anew) session.sheet = Sheet::models;
    const std::string was = before ? before->failure : "";
    if (!was.empty() && now.failure.empty() && session.notice == was) session.notice.clear();
    if (!now.failure.empty() && (now.failure != was || session.notice.empty())) session.notice = now.failure;
}

}  // namespace

WorkRequest request_of(Session& session, const SentenceResult* shown) {
    Document& d = session.document;
    const Selection& s = session.selection;
    WorkRequest r;
    r.model_path = d.model_path;
    r.model_attempt = d.model_attempt;
    r.text = d.text;
    r.picture = d.picture;
    if (!shown || reads_two_texts(shown->model->config)) r.second = d.second;
    r.generation = generation_asked(d);
    std::tie(r.block, r.head) = s.shown_head();
    r.cell = s.focused();
    r.choose_head = s.choose_head;
    if (shown) {
        r.asked_of = shown->model;
        r.intervention = d.intervention;
    }
    r.drop_sink = session.preferences.drop_sink;
    if (shown && shown->trace && d.sweeping) r.sweep = d.metric.metric;
    return r;
}

std::optional<OtherRun> other_run(const Document& d) {
    const Comparison& c = d.comparison;
    if (c.what == Compared::sentences) return OtherRun{"", 0, c.text};
    if (c.what == Compared::models && !c.model.empty()) return OtherRun{c.model, c.attempt, d.text};
    return std::nullopt;
}

bool take_in(Session& session, const WorkAnswer* before, const WorkAnswer& now) {
    const bool opened = now.sentence && now.model_error.empty() &&
                        (!before || !before->sentence || before->sentence->model != now.sentence->model);
    if (opened) take_model(session, now);
    take_failures(session, before, now);
    Selection& s = session.selection;
    if (s.choose_head && now.sentence && now.sentence->trace) {
        s.block = now.block;
        s.head = now.head;
        s.choose_head = false;
    }
    if (now.sentence) fit_head(s, now.sentence->model->config);
    return opened;
}

void replace_session(Session& session, Session opened, const WorkAnswer* shown) {
    const bool same_model = opened.document.model_path == session.document.model_path;
    session = std::move(opened);
    session.sheet.reset();
    session.notice.clear();
    Document& d = session.document;
    d.history.clear();
    const bool failed = shown && !shown->model_error.empty();
    if (!same_model || failed) return choose_model(session, d.model_path, ++d.attempts);
    const bool is_open = shown && shown->sentence && shown->model_path == d.model_path &&
                         shown->model_attempt == d.model_attempt;
    if (!is_open) return;  // take_in() does this then
    restore_metric(session, *shown->sentence->model);
    restore_changes(session, shown->sentence->model->config);
}

Session to_remember(Session session, const WorkAnswer* shown) {
    if (shown && shown->sentence && !shown->model_error.empty())
        session.document.model_path = shown->sentence->model->path.string();
    return session;
}

}  // namespace headlight
