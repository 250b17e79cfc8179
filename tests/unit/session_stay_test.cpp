// Tests what remains of a document whose model cannot be opened, and what returns at the start.
#include <doctest/doctest.h>

#include "exchange_case.h"
#include "session/adopt.h"
#include "session/settings.h"
#include "session/work/requests.h"
#include "session/workspace.h"

using namespace headlight;

TEST_CASE("exchange: a workspace with a missing model is not overwritten by another document") {
    const WorkAnswer shown = answer_of("gpt2", {5, 9, 200});
    const auto opened = [&](const char* model) {
        Session s;
        s.document.wanted = s.document.open = shown.open;
        const Json root{{"format", "headlight-workspace"}, {"version", 1}, {"model", model}};
        Session read = *parse_workspace(json_text(root), "it", s);
        read.document.workspace = "it.headlight.json";
        adopt(s, &read, Adopted::document, shown.sentence->model.get());
        return s;
    };
    const auto missing = [&](const Session& s) {
        WorkAnswer a = shown;
        a.model_path = s.document.wanted.path;
        a.model_attempt = s.document.wanted.attempt;
        a.model_error = "There is no such model.";
        return a;
    };
    Session s = opened("/gone");
    CHECK(s.document.workspace == "it.headlight.json");
    take_in(s, &shown, missing(s));
    CHECK_MESSAGE(s.document.workspace.empty(), "Save asks for a name");
    s = opened("/gone");
    stay_with_open(s);
    CHECK_MESSAGE(s.document.workspace.empty(), "the same where opening is cancelled");
    s = opened("/models/some");
    choose_model(s, "/gone");
    take_in(s, &shown, missing(s));
    CHECK_MESSAGE(s.document.workspace == "it.headlight.json", "the workspace's own model is still open");
    s = opened("/gone");
    choose_model(s, "/models/other");
    take_in(s, &shown, opened_as("/models/other", s.document.wanted.attempt));
    CHECK_MESSAGE(s.document.workspace == "it.headlight.json", "the user chose another model for it");
}

TEST_CASE("exchange: a workspace with a missing model is released at the start, whatever is opened next") {
    WorkAnswer instead = answer_of("gpt2", {5, 9, 200});
    instead.open = {"stories", 0};
    instead.model_path = "/gone";
    instead.model_error = "There is nothing at /gone.";
    Session s;
    s.document.workspace = "it.headlight.json";
    s.document.wanted = {"/gone", 0};
    Session chose = s;
    take_in(s, nullptr, instead);
    CHECK((s.document.workspace.empty() && !s.document.awaits_model()));
    choose_model(chose, "/gone too");
    take_in(chose, nullptr, instead);
    CHECK(chose.document.wanted.path == "/gone too");
    WorkAnswer wrong = instead;
    wrong.model_path = "/gone too";
    wrong.model_attempt = chose.document.wanted.attempt;
    take_in(chose, &instead, wrong);
    CHECK((chose.document.workspace.empty() && chose.document.wanted == instead.open));
}

TEST_CASE("exchange: a failed opening keeps the locked cell") {
    const WorkAnswer fine = answer_of("gpt2", {5, 9, 200});
    Session s;
    s.document.wanted = {"/models/some", 0};
    take_in(s, nullptr, fine);
    s.selection.locked = std::pair{2, 1};
    choose_model(s, "/gone");
    choose_model(s, "/gone too");
    WorkAnswer wrong = fine;
    wrong.model_path = "/gone too";
    wrong.model_attempt = s.document.wanted.attempt;
    wrong.model_error = "There is no such model.";
    take_in(s, &fine, wrong);
    CHECK(s.selection.locked == std::pair{2, 1});
    choose_model(s, "/gone");
    s.selection.unlock();
    stay_with_open(s);
    CHECK_MESSAGE(!s.selection.locked, "what was let go since, by typing, stays so");
    s.selection.locked = std::pair{2, 1};
    choose_model(s, "/models/other");
    take_in(s, &wrong, opened_as("/models/other", s.document.wanted.attempt));
    choose_model(s, "/gone");
    stay_with_open(s);
    CHECK_MESSAGE(!s.selection.locked, "it is of the model that was open");
}

TEST_CASE("exchange: a workspace's default metric does not carry over to another model") {
    const WorkAnswer first = answer_of("gpt2", {5, 9, 200});
    const auto metric_of_the_other = [&](const char* said) {
        Session s;
        s.document.wanted = s.document.open = first.open;
        Json root{{"format", "headlight-workspace"},
                  {"version", 1},
                  {"model", "/models/other"},
                  {"other_models", {R"({"model": "/models/some", "mask": "none", "metric": "p #17"})"}}};
        if (said) root["metric"] = said;
        Session read = *parse_workspace(json_text(root), "it", s);
        adopt(s, &read, Adopted::document, first.sentence->model.get());
        CHECK(!s.document.metric.name.empty());
        take_in(s, &first, opened_as("/models/other", s.document.wanted.attempt));
        return s.document.metric.name;
    };
    CHECK(metric_of_the_other("").empty());
    CHECK(metric_of_the_other(nullptr).empty());
    CHECK(!metric_of_the_other("p #9").empty());
}

TEST_CASE("exchange: the generation step is restored at the start and reset by another text") {
    Session s;
    s.document.text = "one";
    [[maybe_unused]] const WorkRequest begun = request_of(s, nullptr);
    s.document.generation.step = 3;
    Session next = read_settings(*settings_fields(s), "it", {});
    CHECK(request_of(next, nullptr).generation.step == 3);
    take_in(next, nullptr, answer_of("gpt2", {5, 9, 200}));
    CHECK(request_of(next, nullptr).generation.step == 3);
    next.document.text = "another";
    CHECK_MESSAGE((*settings_fields(next))["written_step"] == -1, "a step is of its text");
    CHECK(request_of(next, nullptr).generation.step == -1);
}
