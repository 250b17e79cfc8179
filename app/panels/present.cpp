#include "panels/present.h"

#include <algorithm>
#include <filesystem>

#include "io/json.h"
#include "paint/layout.h"
#include "parts/controls.h"
#include "session/adopt.h"
#include "session/commands/commands.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kPresentHead = 56, kHintLine = 36;

constexpr const char* kSlideOf = "slide_of";  // name of the model that a slide shows, beside its "model"

/// The state of a slide, as a workspace spells it.
Result<std::string> slide_of(const CommandContext& c) {
    Session s = c.session;
    note_changes(s.document);
    s.document.wanted = s.document.open;
    s.selection.view_name = shown_view(c.session, *c.model()).key;
    s.document.slides.clear();
    Json root = Json::object();
    FieldWriter writer(root);
    visit_workspace(s, writer);
    TRY_STATUS(writer.status());
    for (const char* not_its : {"slides", "other_models"}) root.erase(not_its);
    root[kSlideOf] = c.model()->name;
    return json_text(root);
}

std::string word_of(const Json& slide, const char* key) {
    const auto found = slide.is_object() ? slide.find(key) : slide.end();
    return slide.is_object() && found != slide.end() && found->is_string() ? found->get<std::string>() : "";
}

/// The model to open for a slide; "" if it is open. If nothing is at the slide's path, as on another
/// computer, an open model of the same name counts.
std::string model_to_open(const CommandContext& c, const Json& slide) {
    const std::string path = word_of(slide, "model"), name = word_of(slide, kSlideOf);
    if (path == c.session.document.open.path) return "";
    std::error_code ignored;
    if (name == c.model()->name && !std::filesystem::exists(path, ignored)) return "";
    return path.empty() ? name : path;
}

/// Shows a slide as one undo step, which includes opening its model. Skips interventions on a model other
/// than the open one.
Status put_slide(CommandContext& c, int number) {
    Session& now = c.session;
    TRY(const Json root, parse_json(now.document.slides[number], "The slide"));
    Session kept = now;
    note_changes(kept.document);  // an older slide does not mention them
    kept.document.wanted = kept.document.open;
    kept.selection.unlock();
    FieldReader reader(root, "The slide", true);
    visit_workspace(kept, reader);
    const bool left_out = !model_to_open(c, root).empty();
    if (left_out) kept.document.changes() = {};
    const Edit* last = now.document.history.last();
    const auto* opened = last ? std::get_if<ModelEdit>(last) : nullptr;
    const bool goes_on =
        now.document.pending_slide && !left_out && opened && opened->after.path == now.document.open.path;
    now.document.pending_slide.reset();
    {
        const HistoryGroup one_step(now.document.history, goes_on);
        adopt(now, &kept, Adopted::slide, c.model());
        now.document.history.name("Show slide " + std::to_string(number + 1));
    }
    if (left_out)
        now.notice = "This slide shows " + word_of(root, kSlideOf) +
                     ", which is not open; its interventions are skipped.";
    open_named_view(now, now.selection.view_name);
    c.host.show_texts();
    now.slide = number;
    return success();
}

/// A slide of another model waits until that model is open, or fails; within a try it does not wait.
Status show_slide(CommandContext& c, int number) {
    Document& d = c.session.document;
    TRY(const Json root, parse_json(d.slides[number], "The slide"));
    const std::string other = model_to_open(c, root);
    if (d.history.grouping()) return put_slide(c, number);
    if (other.empty()) {
        if (d.awaits_model()) stay_with_open(c.session);
        return put_slide(c, number);
    }
    if (d.wanted.path != other) choose_model(c.session, other);
    d.pending_slide = c.session.slide = number;
    return success();
}

Status step_slide(CommandContext& c, int by) {
    const int count = isize(c.session.document.slides);
    return show_slide(c, std::clamp(c.session.slide + by, 0, count - 1));
}

void present(CommandContext& c) {
    c.session.presenting = !c.session.presenting;
    c.session.preferences.hints_seen = true;
    c.session.sheet.reset();
    c.host.leave_texts();
}

Status add_slide(CommandContext& c, const std::string&) {
    auto& slides = c.session.document.slides;
    if (slides.size() >= kMaxSlides) return Error{"A workspace holds at most 200 slides; remove some first."};
    TRY(std::string slide, slide_of(c));
    const int at = c.session.slide < 0 ? isize(slides) : std::min(c.session.slide + 1, isize(slides));
    slides.insert(slides.begin() + at, std::move(slide));
    c.session.slide = at;
    c.session.notice = "Saved as slide " + std::to_string(at + 1) + " of " + std::to_string(slides.size()) +
                       ". Press F5 to present; slides are saved in the workspace.";
    return success();
}

Status remove_slide(CommandContext& c, const std::string&) {
    auto& slides = c.session.document.slides;
    const int at = c.session.slide < 0 ? isize(slides) - 1 : std::min(c.session.slide, isize(slides) - 1);
    slides.erase(slides.begin() + at);
    c.session.document.pending_slide.reset();
    c.session.slide = std::min(at, isize(slides) - 1);
    c.session.notice =
        std::to_string(slides.size()) + (slides.size() == 1 ? " slide left." : " slides left.");
    return success();
}

Status go_to_slide(CommandContext& c, const std::string& words) {
    const double count = double(c.session.document.slides.size());
    TRY(const double number, number_within("slide go", words, 1, count, true));
    return show_slide(c, int(number) - 1);
}

const char* has_slides(const CommandContext& c) {
    if (!c.sentence()) return needs_sentence(c);
    return c.session.document.slides.empty() ? "No slides yet: press Shift+F5 to add one." : nullptr;
}

/// The arrows walk through slides only while presenting them.
const char* walks(const CommandContext& c) {
    const bool on = c.session.presenting && !c.session.sheet && c.sentence();
    return on && !c.session.document.slides.empty() ? nullptr : "";
}

}  // namespace

Status resume_presenting(CommandContext& c) {
    const Document& d = c.session.document;
    const bool can = d.pending_slide && c.sentence() && !d.awaits_model();
    return can ? put_slide(c, *d.pending_slide) : success();
}

std::vector<Command> present_commands() {
    const char* walk = "while presenting: previous or next slide";
    return in_group(
        "Display",
        {also_called("slides, PowerPoint, full screen",
                     row({"present", "Present", "present the view full screen; Esc exits", "F5"}, present,
                         needs_sentence)),
         row({"slide add", "Add a slide", "add the current view as a slide", "Shift+F5"}, add_slide,
             needs_sentence),
         row({"slide remove", "Remove slide", "remove the slide shown last"}, remove_slide, has_slides),
         row({"slide go NUMBER", "Go to slide", "show a slide by its number"}, go_to_slide, has_slides),
         row(
             {"slide previous", "Previous slide", walk, "←, PgUp"},
             [](CommandContext& c, const std::string&) { return step_slide(c, -1); }, walks),
         row(
             {"slide next", "Next slide", walk, "→, PgDn"},
             [](CommandContext& c, const std::string&) { return step_slide(c, 1); }, walks)});
}

namespace {

/// "red 16 → ball 10", and its weight in amber.
void draw_pointed(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    if (!cell || !s.answer->picture) return;
    const bool masked = s.answer->picture->at(cell->first, cell->second) < 0;
    const std::string weight = masked ? "masked" : number(s.weight(cell->first, cell->second), 3);
    const float wide = write(ui, line, kTitleMono, ui.colors->accent_text, weight, Flush::right);
    take_right(line, wide, gap::wide);
    write(ui, line, kTitleMono, ui.colors->t1,
          token_at(s.query_labels(), cell->first) + " → " + token_at(s.key_labels(), cell->second),
          Flush::right);
    ui.name("present/value", line);
}

/// Draws the slide's number, and how to exit.
void draw_hint(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const auto count = s.session.document.slides.size();
    const std::string slides =
        count == 0 ? "Shift+F5 adds a view as a slide"
        : s.session.slide < 0
            ? std::to_string(count) + (count == 1 ? " slide" : " slides") + ", → begins"
            : "Slide " + std::to_string(s.session.slide + 1) + " of " + std::to_string(count) + ", ← → move";
    write(ui, line, kCaption, ui.colors->t2, slides);
    if (ui.link("present/leave", line.right(), line.middle_y(), "Esc exits")) s.send("present");
}

}  // namespace

Rect draw_presentation(Scene& s, Rect window, const View& view) {
    Ui& ui = s.ui;
    Rect rest = window;
    const Rect head = inset(take_top(rest, kPresentHead), size::center_pad, 0),
               hint = inset(take_bottom(rest, kHintLine), size::center_pad, 0);
    const std::string title = view.fills_window() ? "" : view_title(s, view);
    const float wide = write(ui, head, kTitle, ui.colors->t1, title);
    Rect value = head;
    take_left(value, wide, gap::wide);
    if (view.shows == View::Shows::head) draw_pointed(s, value);
    draw_hint(s, hint);
    return rest;
}

}  // namespace headlight
