#include "session/work/requests.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/comparison/compare.h"
#include "base/cast.h"
#include "hub/adapted.h"
#include "io/engine_address.h"
#include "session/adopt.h"
#include "session/conversation.h"
#include "session/fetching.h"

namespace headlight {

bool reads_two_texts(const ModelConfig& config) { return config.can.read_pair || config.can.write_target; }

namespace {

/// Whether the model shall write: in a conversation once the message is sent.
bool continues(const Document& d) {
    if (!d.chatting || !d.generation.bar) return d.generation.bar;
    const ChatDraft draft = draft_of(d);
    return d.text.empty() && draft.edited < 0 && draft.awaits_answer();
}

GenerationAsked generation_asked(Document& d, const std::string& read) {
    GenerationState& g = d.generation;
    if (g.forced_for != read) {
        g.forced_for = read;
        g.unforce();
        g.playing = false;
    }
    GenerationAsked asked{{g.decoding, g.length, g.forced}, continues(d), g.step};
    asked.request.length = std::max(asked.request.length, isize(g.forced));
    return asked;
}

/// Keeps the interventions of the last model for when it is opened again and applies those that the document
/// has for this one. Switching models by hand is an undo step.
void take_model(Session& session, const WorkAnswer& now) {
    Document& d = session.document;
    note_changes(d);
    const ModelChoice before = std::exchange(d.open, now.open);
    Selection& s = session.selection;
    const auto known = d.changes_of.find(before.path);
    const bool other_heads = known != d.changes_of.end() && known->second.config &&
                             !same_heads(*known->second.config, now.sentence->model->config);
    const OpenModel left{before.path, s.block, s.head, s.locked ? s.locked : s.relock};
    const auto reopened = std::exchange(d.reopened, std::nullopt);
    s.relock.reset();
    const bool instead = now.model_attempt == d.open.attempt && now.model_path != d.open.path;
    if (instead) d.first_attempt = d.open.attempt + 1;  // the document's own model is not open yet
    if (instead && d.wanted.attempt == d.open.attempt) stay_with_open(session);
    if (!before.path.empty() && d.open.attempt != d.noted_attempt) {
        const bool strength = only_strength_differs(before.path, d.open.path);
        d.history.note(ModelEdit{left, {d.open.path}}, strength);
        s.choose_head = s.choose_head || (other_heads && now.sentence->trace);
    }
    adopt(session, nullptr, Adopted::changes, now.sentence->model.get());
    if (reopened && reopened->path == d.open.path) choose_again(session, *reopened);
    FetchState& fetch = session.of<FetchState>();
    if (fetch.fetched == d.open.path) fetch.fetched.clear();
    auto& recent = session.preferences.recent_models;
    std::erase_if(recent, [&](const std::string& path) { return only_strength_differs(path, d.open.path); });
    if (d.open.path.find('/') != std::string::npos && !is_engine_address(d.open.path))
        note_recent(recent, d.open.path);
    else
        recent.erase(std::remove(recent.begin(), recent.end(), d.open.path), recent.end());
}

void take_failures(Session& session, const WorkAnswer* before, const WorkAnswer& now) {
    const bool anew =
        !before || before->model_attempt != now.model_attempt || before->model_error != now.model_error;
    if (!now.model_error.empty() && anew) {
        Document& d = session.document;
        const bool wanted = d.wanted.attempt == now.model_attempt;
        const auto slide = d.pending_slide;  // shown without its model, with a notice
        if (wanted && d.reopened)
            session.notice = now.model_error;
        else if (!wanted || !slide)
            session.sheet = Sheet::models;
        if (wanted) stay_with_open(session);
        d.pending_slide = slide;
    }
    const std::string was = before ? before->failure : "";
    if (!was.empty() && now.failure.empty() && session.notice == was) session.notice.clear();
    if (!now.failure.empty() && (now.failure != was || session.notice.empty())) session.notice = now.failure;
}

}  // namespace

WorkRequest request_of(Session& session, const SentenceResult* shown) {
    Document& d = session.document;
    const Selection& s = session.selection;
    WorkRequest r;
    r.model_path = d.wanted.path;
    r.model_attempt = d.wanted.attempt;
    if (shown && d.chatting && !d.text.empty()) keep_answer(d, *shown);  // the next message goes on from it
    r.text = d.text;
    r.chat = chat_read(d);
    r.picture = d.picture;
    if (!shown || reads_two_texts(shown->model->config)) r.second = d.second;
    r.generation = generation_asked(d, d.chatting ? r.chat : d.text);
    std::tie(r.block, r.head) = s.shown_head();
    r.cell = s.focused();
    r.choose_head = s.choose_head;
    if (shown) {
        r.asked_of = shown->model;
        r.intervention = d.intervention;
    }
    r.drop_sink = session.preferences.drop_sink;
    if (shown && shown->trace && d.sweeping) r.jobs.push_back(HeadSweep::Request{d.metric.metric});
    return r;
}

std::optional<OtherRun> other_run(const Document& d) {
    const Comparison& c = d.comparison;
    if (c.what == Compared::sentences) return OtherRun{"", 0, c.text};
    if (c.what == Compared::models && !c.model.empty())
        return OtherRun{c.model, c.attempt, d.text, chat_read(d)};
    if (c.what == Compared::base && split_strength(d.wanted.path))
        return OtherRun{at_strength(d.wanted.path, 0), 0, d.text, chat_read(d)};
    return std::nullopt;
}

bool take_in(Session& session, const WorkAnswer* before, const WorkAnswer& now) {
    const bool opened =
        now.sentence && (!before || !before->sentence || before->sentence->model != now.sentence->model);
    Selection& s = session.selection;
    const bool asked = s.choose_head;  // by the request, so that its answer has the head
    if (opened) take_model(session, now);
    take_failures(session, before, now);
    if (asked && s.choose_head && now.sentence && now.sentence->trace) {
        s.block = now.block;
        s.head = now.head;
        s.choose_head = false;
    }
    if (now.sentence) fit_head(s, now.sentence->model->config);
    return opened && now.model_error.empty();
}

}  // namespace headlight
