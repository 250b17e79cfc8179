// Implements what commands need of the window.
#pragma once

#include "window/autosave.h"
#include "window/exporter.h"
#include "window/worker_link.h"

namespace headlight {

class WindowHost final : public Host {
public:
    WindowHost(WindowState& state, WorkerLink& worker_link, Exporter& exporter, Autosave& autosave)
        : state_(state), worker_link_(worker_link), exporter_(exporter), autosave_(autosave) {}

    void set_text(TextName which, const std::string& text) override;
    const std::string& text(TextName which) override { return field(which).text(); }
    bool apply(const TextEdit& edit) override;
    void show_texts() override { worker_link_.show_texts(); }
    bool typing() const override;
    void focus_text(TextName which) override;
    void leave_texts() override { state_.fields.leave(); }
    bool has_focus() const override { return !state_.ui->focus().empty(); }
    void move_focus(int by) override;
    void press_focus() override;
    void step_focus(int by) override;
    void drop_focus() override { state_.ui->drop_focus(); }
    bool show_picture(const std::string& path) override;
    Status show_config(const std::string& path) override;
    Status show_corpus(const std::string& path) override;
    void browse_corpus() override { exporter_.browse_corpus(); }
    void browse_image() override { exporter_.browse_image(); }
    void open_workspace(const std::string& path) override;
    Status open_lesson(const std::string& name) override;
    Status leave_lesson() override;
    void drop_left_workspace() override { autosave_.drop_left(); }
    void copy_text(const std::string& text) override;
    void copy_numbers() override { exporter_.copy_numbers(); }
    void save() override { exporter_.save(); }
    void browse() override { exporter_.browse(); }
    void close_window() override;

private:
    TextField& field(TextName which) { return state_.fields.of(which); }
    std::vector<TextField*> shown_fields();
    void show_document();
    const Model* shown_model() const { return state_.sentence() ? state_.sentence()->model.get() : nullptr; }

    WindowState& state_;
    WorkerLink& worker_link_;
    Exporter& exporter_;
    Autosave& autosave_;
};

}  // namespace headlight
