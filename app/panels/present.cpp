#include "panels/present.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "io/json.h"
#include "session/adopt.h"
#include "session/commands/commands.h"
#include "session/save_path.h"
#include "views/doors.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kSlideOf = "slide_of";  // name of the model that a slide shows, beside its "model"
constexpr const char *kSlideTitle = "slide_title", *kSlideSteps = "slide_steps", *kSlideNote = "slide_note";
constexpr const char* kOfPresentation[] = {kSlideTitle, kSlideSteps, kSlideNote};  // no part of its picture

/// "Heat map, head 1.2".
std::string title_of_view(const CommandContext& c) {
    const View& view = shown_view(c.session, *c.model());
    const Door* door = shown_door(c.session, *c.model());
    const Selection& s = c.session.selection;
    const std::string name = door ? door->name : view.name;
    if (view.shows != View::Shows::head) return name;
    return name + ", head " + head_name(c.model()->config, s.block, s.head);
}

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
    root[kSlideTitle] = title_of_view(c);
    return json_text(root);
}

std::string word_of(const Json& slide, const char* key) {
    const auto found = slide.is_object() ? slide.find(key) : slide.end();
    return slide.is_object() && found != slide.end() && found->is_string() ? found->get<std::string>() : "";
}

bool goes_by_steps(const Json& slide) {
    const auto found = slide.is_object() ? slide.find(kSlideSteps) : slide.end();
    return slide.is_object() && found != slide.end() && found->is_boolean() && found->get<bool>();
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
    now.revealed = now.presenting && goes_by_steps(root) ? 0 : kReveals;
    now.pictures_slide = true;
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
    c.session.blank = false;
    const int count = isize(c.session.document.slides);
    return show_slide(c, std::clamp(c.session.slide + by, 0, count - 1));
}

/// Shows the rest of a slide, then the next one.
Status reveal(CommandContext& c, const std::string&) {
    Session& s = c.session;
    if (std::exchange(s.blank, false)) return success();
    if (s.revealed < kReveals) {
        ++s.revealed;
        return success();
    }
    return s.slide + 1 < isize(s.document.slides) ? step_slide(c, 1) : success();
}

void leave_panels(CommandContext& c) {
    c.session.preferences.hints_seen = true;
    c.session.sheet.reset();
    c.session.blank = false;
    c.host.leave_texts();
}

void present(CommandContext& c) {
    Session& s = c.session;
    s.presenting = !s.presenting;
    const bool hides = s.presenting && s.slide >= 0 && s.slide < isize(s.document.slides) &&
                       card_of(s.document.slides[size_t(s.slide)]).by_steps;
    s.revealed = hides ? 0 : kReveals;
    leave_panels(c);
}

void arrange(CommandContext& c) {
    c.session.arranging = !c.session.arranging;
    c.session.presenting = false;
    leave_panels(c);
}

Status add_slide(CommandContext& c, const std::string&) {
    auto& slides = c.session.document.slides;
    if (slides.size() >= kMaxSlides) return Error{"A workspace holds at most 200 slides; remove some first."};
    TRY(std::string slide, slide_of(c));
    const int at = isize(slides);
    slides.push_back(std::move(slide));
    c.session.slide = at;
    c.session.pictures_slide = true;
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

/// Writes a field of the slide shown last.
Status set_in_slide(CommandContext& c, const char* key, Json value) {
    std::string& slide = c.session.document.slides[size_t(std::max(0, c.session.slide))];
    TRY(Json root, parse_json(slide, "The slide"));
    root[key] = std::move(value);
    slide = json_text(root);
    return success();
}

Status set_steps(CommandContext& c, const std::string& words) {
    const auto& slides = c.session.document.slides;
    const bool on =
        words.empty() ? !card_of(slides[size_t(std::max(0, c.session.slide))]).by_steps : words == "on";
    return set_in_slide(c, kSlideSteps, on);
}

/// Moves a slide to a place; that one is then the slide shown.
Status move_slide(CommandContext& c, const std::string& words) {
    auto& slides = c.session.document.slides;
    const size_t space = words.find(' ');
    const double count = double(slides.size());
    TRY(const double from, number_within("slide move", words.substr(0, space), 1, count, true));
    TRY(const double to,
        number_within("slide move", space == std::string::npos ? "" : words.substr(space + 1), 1, count,
                      true));
    const auto first = slides.begin() + int(from) - 1, last = slides.begin() + int(to) - 1;
    if (first < last)
        std::rotate(first, first + 1, last + 1);
    else
        std::rotate(last, first, first + 1);
    c.session.document.pending_slide.reset();
    c.session.slide = int(to) - 1;
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

/// The arrows walk through slides only while presenting or arranging them.
const char* walks(const CommandContext& c) {
    const Session& s = c.session;
    const bool on = (s.presenting || s.arranging) && !s.sheet && c.sentence();
    return on && !s.document.slides.empty() ? nullptr : "";
}

const char* walks_or_waits(const CommandContext& c) {
    return c.session.of<SlidesPdf>().path.empty() ? walks(c) : "The slides are being saved.";
}

/// Saves all slides as the pages of a PDF: the window shows one after the other.
Status save_slides(CommandContext& c, const std::string& words) {
    std::filesystem::path path =
        words.empty() ? next_free(documents_folder() / "slides.pdf") : full_path(words, current_folder());
    if (path.extension() != ".pdf") return Error{"Slides are saved as a PDF; end the name in .pdf."};
    c.session.of<SlidesPdf>() = {path.string(), -1};
    c.session.notice = "Saving the slides…";
    return success();
}

const char* presents(const CommandContext& c) {
    return c.session.presenting && !c.session.sheet && c.sentence() ? nullptr : "";
}

}  // namespace

SlideCard card_of(const std::string& slide) {
    const auto root = parse_json(slide, "The slide");
    if (!root || !root->is_object()) return {"Slide", "", false, slide};
    SlideCard out{word_of(*root, kSlideTitle), word_of(*root, kSlideNote), goes_by_steps(*root), ""};
    if (out.title.empty()) {
        const Door* door = find_door(word_of(*root, "view"));
        out.title = door ? door->name : "Slide";
    }
    Json picture = *root;
    for (const char* key : kOfPresentation) picture.erase(key);
    out.picture = picture.dump();
    return out;
}

Status resume_presenting(CommandContext& c) {
    const Document& d = c.session.document;
    const bool can = d.pending_slide && c.sentence() && !d.awaits_model();
    return can ? put_slide(c, *d.pending_slide) : success();
}

namespace {

/// Sets what a slide keeps with its view.
std::vector<Command> slide_fields() {
    return {
        row(
            {"slide title TEXT", "Title of the slide", "name the slide shown last"},
            [](CommandContext& c, const std::string& text) { return set_in_slide(c, kSlideTitle, text); },
            has_slides),
        row(
            {"slide note [TEXT]", "Note of the slide", "what to say with the slide shown last; never on it"},
            [](CommandContext& c, const std::string& text) { return set_in_slide(c, kSlideNote, text); },
            has_slides),
        row({"slide steps [on|off]", "Reveal the slide step by step",
             "presented, the slide shown last begins with its title and sentence"},
            set_steps, has_slides)};
}

std::vector<Command> slide_rows() {
    const char* walk = "of slides: previous or next";
    return {also_called("slides, PowerPoint, full screen",
                        row({"present", "Present", "present the view full screen; Esc exits", "F5"}, present,
                            needs_sentence)),
            also_called("presentation, reorder slides",
                        row({"slides", "Slides", "arrange the slides: add, name, reorder, present"}, arrange,
                            needs_sentence)),
            row({"slide add", "Add a slide", "add the view as the last slide", "Shift+F5"}, add_slide,
                needs_sentence),
            row({"slide remove", "Remove slide", "remove the slide shown last"}, remove_slide, has_slides),
            row({"slide move FROM TO", "Move a slide", "move a slide to a place: slide move 3 1"}, move_slide,
                has_slides),
            also_called("PDF, handout, export slides",
                        row({"slide save [PATH]", "Save slides as PDF",
                             "while slides are shown: save all as a PDF", "Ctrl+S"},
                            save_slides, walks_or_waits)),
            row({"slide go NUMBER", "Go to slide", "show a slide by its number"}, go_to_slide, has_slides),
            row(
                {"slide previous", "Previous slide", walk, "←, PgUp"},
                [](CommandContext& c, const std::string&) { return step_slide(c, -1); }, walks),
            row(
                {"slide next", "Next slide", walk, "→, PgDn"},
                [](CommandContext& c, const std::string&) { return step_slide(c, 1); }, walks),
            row({"slide reveal", "Reveal", "presenting: the rest, then the next slide", "Space"}, reveal,
                presents),
            row(
                {"slide blank", "Blank screen", "presenting: a black screen", "B"},
                [](CommandContext& c) { c.session.blank = !c.session.blank; }, presents)};
}

}  // namespace

std::vector<Command> present_commands() {
    return in_group("Display", joined({slide_rows(), slide_fields()}));
}

}  // namespace headlight
