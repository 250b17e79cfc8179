// Sets up a session over a short text in the built-in model, and a window that only holds texts.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>

#include "helpers.h"
#include "panels/lesson/lesson.h"
#include "session/adopt.h"
#include "session/commands/commands.h"
#include "session/commands/palette.h"
#include "session/work/requests.h"
#include "session/workspace.h"
#include "views/views.h"
#include "window/commands.h"
#include "window/texts.h"

namespace headlight {

/// Is a window that only holds texts, in the window's fields, and workspaces.
struct TestHost final : Host {
    Session& session;
    const RunAnswer& answer;
    Fields fields;
    std::map<std::string, std::string> files;  // workspaces by path
    std::string opened, copied;
    int numbers = 0, closed = 0;
    bool types = false;

    TestHost(Session& session, const RunAnswer& answer) : session(session), answer(answer) {}
    void set_text(TextName which, const std::string& to) override {
        headlight::set_text(session.document, fields, which, to);
        note_texts(session.document, fields);
    }
    const std::string& text(TextName which) override { return fields.of(which).text(); }
    bool apply(const TextEdit& edit) override {
        note_texts(session.document, fields);
        const bool done = apply_edit(session.document, fields, edit);
        note_texts(session.document, fields);
        return done;
    }
    void show_texts() override { headlight::show_texts(session.document, fields); }
    bool typing() const override { return types; }
    void focus_text(TextName) override { types = true; }
    void leave_texts() override { types = false; }
    bool has_focus() const override { return false; }
    void move_focus(int) override {}
    void press_focus() override {}
    void step_focus(int) override {}
    void drop_focus() override {}
    bool show_picture(const std::string& path) override {
        return give_picture(session, *answer.sentence->model, path);
    }
    Status show_config(const std::string& path) override { return give_config(session, path); }
    Status show_corpus(const std::string& path) override {
        return give_corpus(session, answer.sentence ? answer.sentence->model.get() : nullptr, path);
    }
    void browse_corpus() override {}
    void browse_image() override {}
    void open_workspace(const std::string& path) override {
        opened = path;
        if (const auto file = files.find(path); file != files.end()) read(file->second, path);
    }
    const Model* model() const { return answer.sentence ? answer.sentence->model.get() : nullptr; }
    Status open_lesson(const std::string& name) override {
        TRY_STATUS(show_lesson(session, model(), name));
        show_texts();
        return success();
    }
    Status leave_lesson() override {
        TRY_STATUS(close_lesson(session, model()));
        show_texts();
        return success();
    }
    void read(const std::string& text, const std::string& name) {
        auto read = parse_workspace(text, name, session);
        REQUIRE_MESSAGE(read, (read ? "" : read.error().message));
        adopt(session, &*read, Adopted::document, answer.sentence ? answer.sentence->model.get() : nullptr);
        session.document.workspace = name;
        show_texts();
    }
    void drop_left_workspace() override { session.document.left_workspace.clear(); }
    void copy_numbers() override { ++numbers; }
    void copy_text(const std::string& text) override { copied = text; }
    void save() override {
        const auto document = workspace_document(session);
        REQUIRE(document);
        files["saved.headlight.json"] = json_text(*document);
    }
    void browse() override {}
    void close_window() override { ++closed; }
};

/// Computes what a window shows of a short text, or of an image.
inline RunAnswer shown_with(const std::shared_ptr<const Model>& model) {
    ThreadPool pool(1);
    TextInput typed;
    if (model->config.can.read_image)
        typed.image = std::make_shared<const RgbImage>(*open_image(kTests / "reference/models/vit/gray.png"));
    else
        typed.text = "Lily had a red ball. Tom had";
    const auto input = *encode_input(*model, typed);
    const auto trace = *run_trace(model, {input.sequences, {}}, pool);
    return *answer_for({trace, nullptr, nullptr}, {}, std::nullopt, pool);
}

/// Holds a session over it; by default the built-in story model.
struct Bench {
    Session session;
    WorkAnswer answer;
    TestHost host{session, answer};

    Bench() {
        static const RunAnswer shown = shown_with(*Model::open(kTests.parent_path() / "models/stories"));
        static_cast<RunAnswer&>(answer) = shown;
        begin("stories");
    }
    explicit Bench(const std::shared_ptr<const Model>& model) {
        static_cast<RunAnswer&>(answer) = shown_with(model);
        begin(model->name);
    }
    /// Lets the model answer, as after a start.
    void begin(const std::string& path) {
        Document& d = session.document;
        d.wanted = d.open = answer.open = {path, 0};
        adopt(session, nullptr, Adopted::changes, answer.sentence->model.get());
        show_text_of(d, host.fields, *answer.sentence->model);
    }
    /// Lets the requested model answer.
    void come(const std::string& name) {
        const WorkAnswer before = answer;
        static_cast<RunAnswer&>(answer) = shown_with(*Model::open(kTests.parent_path() / "models" / name));
        answer.open = {name, session.document.wanted.attempt};
        std::tie(answer.model_path, answer.model_attempt) = std::tie(name, answer.open.attempt);
        answer.model_error.clear();
        take_in(session, &before, answer);
    }
    void fail(const std::string& why) {
        const WorkAnswer before = answer;
        answer.model_attempt = session.document.wanted.attempt;
        answer.model_error = why;
        take_in(session, &before, answer);
    }
    CommandContext context() { return {session, &answer, host}; }
    Status act(const std::string& text) {
        TRY(const auto lines, parse_commands(commands(), text));
        CommandContext c = context();
        for (const CommandLine& line : lines) TRY_STATUS(carry_out(line, c));
        return success();
    }
    std::string refused(const std::string& text) {
        const Status done = act(text);
        return done ? "" : done.error().message;
    }
    std::vector<std::string> offers(const std::string& typed) {
        std::vector<std::string> out;
        for (const Offer& offer : palette_offers(commands(), context(), typed)) out.push_back(offer.label);
        return out;
    }
};

}  // namespace headlight
