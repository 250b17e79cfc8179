// What a session asks of the worker, and what its answers change, without a display.
#include <doctest/doctest.h>

#include "helpers.h"
#include "session/exchange.h"
#include "session/workspace.h"

using namespace headlight;

namespace {

/// An answer of a model that read a text, as the worker gives it.
WorkAnswer answer_of(const char* folder, const std::vector<int>& ids) {
    ThreadPool pool(1);
    WorkAnswer a;
    const auto model = reference_model(folder);
    static_cast<RunAnswer&>(a) =
        *answer_for({trace_of(model, ids, pool), nullptr, nullptr}, {1, 2}, {}, pool);
    a.model_path = "/models/some";
    return a;
}

WorkAnswer failed(WorkAnswer a, const char* failure) {
    a.failure = failure;
    return a;
}

}  // namespace

TEST_CASE("exchange: the session asks for what it holds, and a decoder is asked for one text") {
    Session s;
    s.document.model_path = "gpt2";
    s.document.text = "one";
    s.document.second = "two";
    s.selection.locked = std::pair{3, 1};
    s.document.sweeping = true;
    const WorkRequest first = request_of(s, nullptr);
    CHECK((first.model_path == "gpt2" && first.text == "one" && first.second == "two" && !first.sweep));
    CHECK((first.cell == std::pair(3, 1) && first.choose_head && first.questions.empty()));
    const WorkAnswer shown = answer_of("gpt2", {5, 9, 200});
    const WorkRequest next = request_of(s, shown.sentence.get());
    CHECK((next.second.empty() && next.sweep == Metric{}));
    s.selection.hovered.cell = std::pair{0, 0};
    CHECK(request_of(s, shown.sentence.get()).cell == std::pair(0, 0));
    s.document.intervention.mask = *Mask::parse("causal");
    const WorkRequest changed = request_of(s, shown.sentence.get());
    CHECK((changed.asked_of == shown.sentence->model && changed.intervention == s.document.intervention));
    CHECK(request_of(s, nullptr).intervention == Intervention{});
}

TEST_CASE("exchange: what was forced in one text is forgotten in the next") {
    Session s;
    s.document.text = "one";
    [[maybe_unused]] const WorkRequest begun = request_of(s, nullptr);
    GenerationState& g = s.document.generation;
    g.forced = {7, 8};
    g.length = 1;
    g.playing = true;
    CHECK(request_of(s, nullptr).generation.wanted.length == 2);
    CHECK((g.forced.size() == 2 && g.playing));
    s.document.text = "another";
    CHECK(request_of(s, nullptr).generation.wanted.length == 1);
    CHECK((g.forced.empty() && !g.playing && g.step == -1));
}

TEST_CASE("exchange: another run is asked for where one is compared") {
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

TEST_CASE("exchange: a model that opens ends what was changed in the last one, unless it waited for this") {
    const WorkAnswer opened = answer_of("gpt2", {5, 9, 200});
    Session s;
    s.selection.block = s.selection.head = 99;
    s.document.intervention.mask = *Mask::parse("causal");
    s.document.sweeping = true;
    s.preferences.recent_models = {"/models/other", "/models/some"};
    CHECK(take_in(s, nullptr, opened));
    CHECK((s.document.intervention == Intervention{} && !s.document.sweeping));
    CHECK(s.preferences.recent_models == std::vector<std::string>{"/models/some", "/models/other"});
    CHECK((s.selection.block == 1 && s.selection.head == 2 && !s.selection.choose_head));
    s.selection.block = s.selection.head = 99;
    CHECK_MESSAGE(!take_in(s, &opened, opened), "the same model");
    const ModelConfig& c = opened.sentence->model->config;
    CHECK((s.selection.block == c.blocks() - 1 && s.selection.head == c.heads(c.blocks() - 1) - 1));
    Session waits;
    waits.document.mask = "window:2";
    waits.document.changes_wait = true;
    CHECK(take_in(waits, nullptr, opened));
    CHECK((waits.document.intervention.mask == *Mask::parse("window:2") && !waits.document.changes_wait));
}

TEST_CASE("exchange: a failure is said once and taken back when it is over; a wrong model opens its sheet") {
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
    CHECK_MESSAGE(!s.sheet, "closed by the person, it stays closed");
    CHECK(to_remember(s, &wrong).document.model_path == fine.sentence->model->path.string());
    CHECK(to_remember(s, &fine).document.model_path == s.document.model_path);
}

TEST_CASE("exchange: a workspace replaces what was open; its model is opened where it is another") {
    const WorkAnswer shown = answer_of("gpt2", {5, 9, 200});
    Session s, file;
    s.document.model_path = shown.model_path;
    s.document.attempts = 4;
    s.sheet = Sheet::models;
    s.notice = "old";
    file = s;
    file.document.mask = "window:2";
    file.document.changes_wait = true;
    Session same = s;
    replace_session(same, file, &shown);
    CHECK((same.document.intervention.mask == *Mask::parse("window:2") && !same.document.changes_wait));
    CHECK((!same.sheet && same.notice.empty() && same.document.attempts == 4));
    file.document.model_path = "/models/other";
    Session other = s;
    replace_session(other, file, &shown);
    CHECK((other.document.model_path == "/models/other" && other.document.model_attempt == 5));
    WorkAnswer wrong = shown;
    wrong.model_error = "There is no such model.";
    file.document.model_path = s.document.model_path;
    Session again = s;
    replace_session(again, file, &wrong);
    CHECK_MESSAGE(again.document.model_attempt == 5, "it is tried once more");
}
