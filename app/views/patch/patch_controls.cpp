// Draws the controls of patching: the clean run, the activation to patch, progress.
#include <algorithm>

#include "parts/metric.h"
#include "parts/text_entry.h"
#include "session/commands/experiments.h"
#include "views/patch/patch.h"

namespace headlight {

namespace {

/// "12 of 68 cells".
std::string counted_cells(const PatchMap& m) {
    return std::to_string(m.done) + " of " + std::to_string(m.cells) + " cells";
}

/// As typed; of tokens that were given, their labels.
std::string patched_text(const SentenceResult& sentence) {
    if (!sentence.text.empty()) return sentence.text;
    std::string out;
    for (const std::string& label : sentence.labels[0]) out += (out.empty() ? "" : " ") + label;
    return out;
}

/// Whether each token of one text stands beside one of the other.
bool pair_is_aligned(const Scene& s) {
    return s.answer->other && s.answer->other->labels[0].size() == s.sentence()->labels[0].size();
}

}  // namespace

void draw_patch_example(Scene& s, Rect line) {
    for (const ThingToTry& thing : things_to_try())
        if (thing.commands.ends_with("view patch") && s.ui.button("patch/example", line, "Show an example"))
            s.send("try", thing.commands);
}

void draw_patch_progress(Scene& s, Rect line, const PatchMap& m) {
    constexpr float kProgress = 320, kBar = 6, kButton = 120;
    Ui& ui = s.ui;
    if (!s.of<PatchState>().measures) {
        const Rect button = band(take_left(line, kButton, gap::medium), size::button);
        if (ui.button("patch/measure", button, m.done > 0 ? "Resume" : "Measure"))
            s.send("patch measure", "on");
        if (m.done == 0) return;
        ui.name("patch/cancelled", line);
        return caption(ui, line,
                       "Cancelled at " + counted_cells(m) +
                           (m.estimates.size() ? "; the others show their estimates." : "."));
    }
    line.w = std::min(line.w, kProgress);
    const Rect words = take_top(line, size::row);
    write(ui, words, kCaption, ui.colors->t2,
          m.cells ? "Patched " + counted_cells(m) : std::string("Reading both runs"));
    if (ui.link("patch/cancel", words.right(), words.middle_y(), "Cancel")) s.send("patch measure", "off");
    ui.bar(take_top(line, kBar), m.cells ? float(m.done) / float(m.cells) : 0.0f, ui.colors->accent);
}

void draw_patch_toolbar(Scene& s, Toolbar bar) {
    constexpr float kSave = 136, kLeastRest = 88, kLabelled = 740;
    constexpr const char* kClean[] = {"another text", "before interventions"};
    const Compared what = s.session.document.comparison.what;
    bar.labels = bar.rest().w > kLabelled;
    const int clean = what == Compared::sentences ? 0 : what == Compared::changes ? 1 : -1;
    if (const int c = bar.choice("Clean run", "patch/clean", {std::begin(kClean), std::end(kClean)}, clean);
        c >= 0)
        s.send("compare", c == 0 ? "sentences" : "changes");
    const std::string head =
        head_name(s.model()->config, s.session.selection.block, s.session.selection.head);
    std::vector<std::string> parts;
    for (const PatchPartRow& row : patch_parts())
        parts.push_back(row.name + (row.part == PatchPart::head ? " " + head : std::string()));
    bar.choose("Patch", "patch/put", parts, s.of<PatchState>().part);
    bar.choose("Values", "patch/values", {"exact", "estimated"}, s.of<PatchState>().estimates);
    add_metric_chip(s, "patch", bar, "Metric", patch_metric(s, patch_found(s).map));
    if (bar.rest().w < kSave + kLeastRest) return;
    if (s.ui.button("save", band(bar.take_end(kSave), size::button), "Save figure…")) s.send("save figure");
}

void draw_patched_texts(Scene& s, Rect& rest) {
    constexpr float kName = 84, kExample = 144, kLeastExample = 520;
    Ui& ui = s.ui;
    const bool plain = ui.on_page() || ui.without_toolbars;
    if (s.session.document.comparison.what != Compared::sentences || !s.sentence()) return;
    const auto row = [&](const char* name, float high) {
        Rect line = inset(take_top(rest, high), size::center_pad, 0);
        write(ui, take_left(line, kName, gap::small), kBody, ui.colors->t1, name);
        return line;
    };
    take_top(rest, 0, gap::small);
    Rect clean = row("Clean", size::button);
    if (plain)
        write(ui, clean, kBody, ui.colors->t2, s.answer->other ? patched_text(*s.answer->other) : "");
    else if (clean.w > kLeastExample)
        draw_patch_example(s, take_right(clean, kExample, gap::small));
    if (!plain)
        draw_text_field(s, s.fields.other, "other", clean,
                        "A text with the same number of tokens and another answer");
    Rect corrupted = row("Corrupted", size::row);
    const char* aligned = "aligned token by token";
    if (!plain && pair_is_aligned(s))
        caption(ui, take_right(corrupted, ui.text.width(kCaption, aligned), gap::medium), aligned);
    ui.name("patch/corrupted", corrupted);
    write(ui, corrupted, kBody, ui.colors->t2, patched_text(*s.sentence()));
}

}  // namespace headlight
