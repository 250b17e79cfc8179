// Tests what a session asks of the worker, and what answers change, without a display.
#include <doctest/doctest.h>

#include "exchange_case.h"
#include "session/adopt.h"
#include "session/commands/try_out.h"
#include "session/settings.h"
#include "session/work/requests.h"
#include "session/workspace.h"

using namespace headlight;

namespace {

Intervention masked_message(const char* mask) {
    Intervention out;
    out.mask = *Mask::parse(mask);
    return out;
}

WorkAnswer failed(WorkAnswer a, const char* failure) {
    a.failure = failure;
    return a;
}

}  // namespace

TEST_CASE("exchange: the request mirrors the session; decoders get one text") {
    Session s;
    s.document.wanted.path = "gpt2";
    s.document.text = "one";
    s.document.second = "two";
    s.selection.locked = std::pair{3, 1};
    s.document.sweeping = true;
    const WorkRequest first = request_of(s, nullptr);
    CHECK((first.model_path == "gpt2" && first.text == "one" && first.second == "two" && first.jobs.empty()));
    CHECK((first.cell == std::pair(3, 1) && first.choose_head && first.questions.empty()));
    const WorkAnswer shown = answer_of("gpt2", {5, 9, 200});
    const WorkRequest next = request_of(s, shown.sentence.get());
    CHECK((next.second.empty() && next.jobs == std::vector<JobRequest>{HeadSweep::Request{Metric{}}}));
    s.selection.hovered.cell = std::pair{0, 0};
    CHECK(request_of(s, shown.sentence.get()).cell == std::pair(0, 0));
    s.document.intervention.mask = *Mask::parse("causal");
    const WorkRequest changed = request_of(s, shown.sentence.get());
    CHECK((changed.asked_of == shown.sentence->model && changed.intervention == s.document.intervention));
    CHECK(request_of(s, nullptr).intervention == Intervention{});
}

TEST_CASE("exchange: forced tokens are dropped with another text") {
    Session s;
    s.document.text = "one";
    [[maybe_unused]] const WorkRequest begun = request_of(s, nullptr);
    GenerationState& g = s.document.generation;
    g.forced = {7, 8};
    g.length = 1;
    g.playing = true;
    CHECK(request_of(s, nullptr).generation.request.length == 2);
    CHECK((g.forced.size() == 2 && g.playing));
    s.document.text = "another";
    CHECK(request_of(s, nullptr).generation.request.length == 1);
    CHECK((g.forced.empty() && !g.playing && g.step == -1));
}

TEST_CASE("exchange: a comparison requests another run") {
    Document d;
    d.text = "one";
    d.comparison.text = "other";
    CHECK(!other_run(d));
    d.comparison.what = Compared::sentences;
    CHECK((other_run(d)->text == "other" && other_run(d)->model_path.empty()));
    d.comparison.what = Compared::models;
    CHECK(!other_run(d));
    d.comparison.model = "gpt2";
    CHECK((other_run(d)->text == "one" && other_run(d)->model_path == "gpt2"));
}

TEST_CASE("exchange: interventions are kept per model") {
    const WorkAnswer first = answer_of("gpt2", {5, 9, 200}), second = opened_as("/models/other", 1);
    Session s;
    s.document.wanted = {"/models/some", 0};
    s.selection.block = s.selection.head = 99;
    s.preferences.recent_models = {"/models/other", "/models/some"};
    CHECK(take_in(s, nullptr, first));
    CHECK((s.document.open == first.open && !s.document.awaits_model()));
    CHECK(s.preferences.recent_models == std::vector<std::string>{"/models/some", "/models/other"});
    CHECK((s.selection.block == 1 && s.selection.head == 2 && !s.selection.choose_head));
    s.selection.block = s.selection.head = 99;
    CHECK_MESSAGE(!take_in(s, &first, first), "the same model");
    const ModelConfig& c = first.sentence->model->config;
    CHECK((s.selection.block == c.blocks() - 1 && s.selection.head == c.heads(c.blocks() - 1) - 1));
    s.document.intervene(masked_message("causal"));
    s.document.sweeping = true;
    choose_model(s, "/models/other");
    CHECK_MESSAGE((s.document.intervention == masked_message("causal") && s.document.awaits_model()),
                  "what is open stays while another one is opened");
    CHECK(take_in(s, &first, second));
    CHECK((s.document.intervention == Intervention{} && !s.document.sweeping));
    CHECK_MESSAGE(s.document.history.steps() == 2, "the switch is a step of undo");
    choose_model(s, "/models/some");
    WorkAnswer back = first;
    back.open.attempt = back.model_attempt = s.document.wanted.attempt;
    CHECK(take_in(s, &second, back));
    CHECK(s.document.intervention == masked_message("causal"));
}

TEST_CASE("exchange: a document's interventions apply once its model is open") {
    Session s;
    s.document.wanted = {"/models/some", 0};
    s.document.changes().mask = "window:2";
    CHECK(request_of(s, nullptr).intervention == Intervention{});
    const WorkAnswer opened = answer_of("gpt2", {5, 9, 200});
    CHECK(take_in(s, nullptr, opened));
    CHECK(s.document.intervention == masked_message("window:2"));
    CHECK_MESSAGE(s.document.history.steps() == 0, "nobody switched");
}

TEST_CASE("exchange: a failed opening leaves the document unchanged") {
    const WorkAnswer fine = answer_of("gpt2", {5, 9, 200});
    Session s;
    s.document.wanted = {"/models/some", 0};
    take_in(s, nullptr, fine);
    s.document.text = s.document.generation.forced_for = "one";
    s.document.intervene(masked_message("causal"));
    s.document.generation.forced = {7};
    const Json before = *workspace_document(s);
    choose_model(s, "/no/such model");
    WorkAnswer wrong = fine;
    wrong.model_path = "/no/such model";
    wrong.model_attempt = s.document.wanted.attempt;
    wrong.model_error = "There is no such model.";
    CHECK(!take_in(s, &fine, wrong));
    CHECK((s.document.wanted == fine.open && s.shows(Sheet::models)));
    CHECK(*workspace_document(s) == before);
    CHECK((request_of(s, wrong.sentence.get()).model_path == "/models/some" &&
           request_of(s, wrong.sentence.get()).generation.request.forced == std::vector<int>{7}));
    choose_model(s, "/no/such model");
    stay_with_open(s);
    CHECK_MESSAGE(*workspace_document(s) == before, "nor does one that is cancelled");
}

TEST_CASE(
    "exchange: in the place of a first model that cannot be opened another one has a state of its own") {
    Session s;
    s.document.wanted = {"/gone", 0};
    s.document.changes().changes = {"ablate:9.9"};
    s.document.changes().mask = "window:3";
    WorkAnswer instead = answer_of("gpt2", {5, 9, 200});
    instead.open = {"stories", 0};
    instead.model_path = "/gone";
    instead.model_error = "There is nothing at /gone.";
    CHECK(!take_in(s, nullptr, instead));
    CHECK((s.document.wanted.path == "stories" && s.document.intervention == Intervention{}));
    CHECK((s.notice.empty() && s.shows(Sheet::models)));
    s.document.intervene(masked_message("causal"));
    const Json kept = *settings_fields(s);
    CHECK((kept["model"] == "stories" && kept["mask"] == "causal"));
    Session next = read_settings(kept, "it", {});
    WorkAnswer again = answer_of("gpt2", {5, 9, 200});
    again.open = {"stories", 0};
    take_in(next, nullptr, again);
    CHECK(next.document.intervention == masked_message("causal"));
    CHECK((next.document.changes_of.at("/gone").mask == "window:3" &&
           next.document.changes_of.at("/gone").changes == std::vector<std::string>{"ablate:9.9"}));
}

TEST_CASE("exchange: an error is shown once and cleared when resolved; a wrong model opens its sheet") {
    const WorkAnswer fine = answer_of("gpt2", {5, 9, 200});
    Session s;
    take_in(s, nullptr, fine);
    const WorkAnswer bad = failed(fine, "The text is too long.");
    take_in(s, &fine, bad);
    CHECK(s.notice == "The text is too long.");
    s.notice = "Something else.";
    take_in(s, &bad, bad);
    CHECK(s.notice == "Something else.");
    take_in(s, &bad, fine);
    CHECK_MESSAGE(s.notice == "Something else.", "another notice stays");
    take_in(s, &fine, bad);
    take_in(s, &bad, fine);
    CHECK(s.notice.empty());
    WorkAnswer wrong = fine;
    wrong.model_error = "There is no such model.";
    wrong.model_attempt = 2;
    CHECK(!take_in(s, &fine, wrong));
    CHECK(s.shows(Sheet::models));
    s.sheet.reset();
    take_in(s, &wrong, wrong);
    CHECK_MESSAGE(!s.sheet, "closed by the user, it stays closed");
}

TEST_CASE("exchange: a workspace replaces the document and opens its model if it differs") {
    const WorkAnswer shown = answer_of("gpt2", {5, 9, 200});
    const Model* model = shown.sentence->model.get();
    Session s;
    s.document.wanted = s.document.open = shown.open;
    s.document.attempts = 4;
    s.document.trial = std::make_shared<const Trial>(Trial{"mask none", {}, {}});
    s.document.pending_trial = 0;
    s.document.intervene(masked_message("causal"));
    s.sheet = Sheet::models;
    s.notice = "old";
    s.presenting = true;
    s.slide = 5;
    const auto file = [&](const char* name) {
        const Json root{
            {"format", "headlight-workspace"}, {"version", 1}, {"model", name}, {"mask", "window:2"}};
        return *parse_workspace(json_text(root), "it", s);
    };
    Session same = s, read = file("/models/some");
    adopt(same, &read, Adopted::document, model);
    CHECK((same.document.intervention == masked_message("window:2") && same.document.history.steps() == 0));
    CHECK((!same.sheet && same.notice.empty() && same.document.wanted == shown.open));
    CHECK_MESSAGE(
        (!same.document.trial && !same.document.pending_trial && !same.presenting && same.slide == -1),
        "a try, presenting and the number of a slide end with their workspace");
    Session other = s;
    read = file("/models/other");
    adopt(other, &read, Adopted::document, model);
    CHECK(other.document.wanted == ModelChoice{"/models/other", 5});
    CHECK(other.document.intervention == Intervention{});
    other.document.intervene(masked_message("none"));
    CHECK(take_in(other, &shown, opened_as("/models/other", 5)));
    CHECK((other.document.intervention == masked_message("window:2") && other.document.history.steps() == 1));
    CHECK_MESSAGE(other.document.changes_of.at("/models/some").mask == "none",
                  "what was done to the other one meanwhile is kept");
}
