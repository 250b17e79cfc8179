// Simulates a window without a display: a session, its fields, and answers that nothing computes.
#pragma once

#include "command_bench.h"
#include "document_paper.h"
#include "paint/input.h"
#include "session/settings.h"
#include "session/work/requests.h"
#include "trace/trace_file.h"

namespace headlight {

/// Holds the answers for a path: two passes over the same text, from two openings of a model.
struct KnownModel {
    std::string path;
    RunAnswer openings[2];
    int next = 0;
};

inline RunAnswer recorded_answer() {
    const TemporaryFolder folder;
    ThreadPool pool(1);
    const auto path = folder.path / "trace.safetensors";
    const auto model = reference_model("gpt2");
    REQUIRE(write_trace(path, *trace_of(model, {5, 9, 200, 31}, pool), {"*"}, pool));
    return *answer_for({*open_trace(path), nullptr, nullptr}, {}, std::nullopt, pool);
}

inline std::vector<KnownModel> known_models() {
    std::vector<KnownModel> out;
    for (const char* name : {"gpt2", "bert", "vit"}) {
        KnownModel known{std::string("/m/") + name, {}};
        for (RunAnswer& a : known.openings) a = shown_with(reference_model(name));
        out.push_back(std::move(known));
    }
    KnownModel both{"/m/translator",
                    {shown_with(reference_model("marian")), shown_with(reference_model("marian"))}},
        trace{"/m/trace", {recorded_answer(), recorded_answer()}};
    out.push_back(std::move(both));
    out.push_back(std::move(trace));
    out.push_back({"stories", {shown_with(reference_model("gpt2")), shown_with(reference_model("gpt2"))}});
    return out;
}

/// Returns what a document contains, as a workspace would store it.
inline Said said_by(const Session& session) {
    const Json root = *workspace_document(session);
    Said out;
    for (const char* key : {"model", "text", "second", "picture", "text_b", "compare", "layer_b", "head_b",
                            "model_b", "align", "tied", "seed", "beams", "written_length"})
        out[key] = root.at(key).dump();
    const auto note = [&](const Json& from) {
        const std::string model = '@' + from.at("model").get<std::string>();
        say(out, "mask" + model, from.at("mask").dump(), "\"own\"");
        say(out, "changes" + model, from.at("changes").dump(), "[]");
        say(out, "metric" + model, from.value("metric", Json("")).dump(), "\"\"");
    };
    note(root);
    for (const Json& other : root.at("other_models")) note(Json::parse(other.get<std::string>()));
    return out;
}

/// Runs a window from start to end.
struct Sitting {
    Session session;
    WorkAnswer answer;
    bool answered = false;
    TestHost host{session, answer};

    CommandContext context() { return {session, answered ? &answer : nullptr, host}; }
    const SentenceResult* shown() const { return answered ? answer.sentence.get() : nullptr; }

    Status act(const std::string& text) {
        TRY(const auto line, parse_command(commands(), text));
        CommandContext c = context();
        Status done = carry_out(line, c);
        note_texts(session.document, host.fields);
        return done;
    }
    void type(const std::string& text) {
        Input input;
        input.keys.push_back({-1, false, false, false, text, 0});
        host.fields.sentence.handle(
            input, session.document.history, [] { return ""; }, [](const std::string&) {});
        note_texts(session.document, host.fields);
    }
    /// Lets the worker finish its request.
    void come(std::vector<KnownModel>& models) {
        const WorkRequest r = request_of(session, shown());
        const ModelChoice wanted{r.model_path, r.model_attempt};
        WorkAnswer next = answer;
        if (wanted != answer.open && wanted != ModelChoice{answer.model_path, answer.model_attempt}) {
            next.model_path = wanted.path;
            next.model_attempt = wanted.attempt;
            next.model_error.clear();
            if (!put(models, wanted.path, wanted, next)) {
                next.model_error = "There is no model at " + wanted.path + ".";
                if (!answer.sentence) put(models, "stories", {"stories", wanted.attempt}, next);
            }
        }
        const WorkAnswer before = std::exchange(answer, next);
        const bool first = !std::exchange(answered, true);
        show_text_of(session.document, host.fields, *answer.sentence->model);
        take_in(session, first ? nullptr : &before, answer);
        CommandContext c = context();
        if (const Status done = go_on(c); !done) session.notice = done.error().message;
        note_texts(session.document, host.fields);
    }

private:
    static bool put(std::vector<KnownModel>& models, const std::string& path, const ModelChoice& as,
                    WorkAnswer& answer) {
        for (KnownModel& known : models)
            if (known.path == path) {
                static_cast<RunAnswer&>(answer) = known.openings[known.next ^= 1];
                answer.open = as;
                return true;
            }
        return false;
    }
};

}  // namespace headlight
