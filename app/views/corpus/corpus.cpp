#include "views/corpus/corpus.h"

#include <algorithm>

#include "base/quoted.h"
#include "base/utf8.h"
#include "paint/toolbar.h"
#include "session/commands/command_rows.h"
#include "session/dossier_page.h"
#include "session/file_dialog.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kFileField = 420;

std::vector<JobRequest> corpus_jobs(const Scene& s, bool shown) {
    const CorpusState& state = s.of<CorpusState>();
    if (state.file.empty()) return {};
    return {CorpusSweep::Request{state.file, state.attempt, shown, !state.reads}};
}

/// "stories.txt": the file, without its folder.
std::string file_name(const std::string& path) {
    return path == kSampleTexts ? "example texts" : std::filesystem::path(path).filename().string();
}

void draw_file_field(Scene& s, Rect r) {
    Ui& ui = s.ui;
    const CorpusState& state = s.of<CorpusState>();
    const Ui::Entry entry = ui.entry("corpus/file", r, state.file);
    if (!entry.open) {
        ui.fill(r, entry.hit.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
        ui.frame(r, ui.colors->l2, 1, size::corner);
        write(ui, inset(r, gap::small, 0), kCaptionMono, state.file.empty() ? ui.colors->t3 : ui.colors->t1,
              state.file.empty() ? "Path to a .txt file or a saved analysis (.json)" : state.file);
    }
    if (entry.typed && !entry.typed->empty()) s.send("corpus", *entry.typed);
}

bool has_dialog(CorpusState& state) {
    if (!state.has_dialog) state.has_dialog = !dialog_program().empty();
    return *state.has_dialog;
}

void draw_corpus_toolbar(Scene& s, Rect& rest, const Dossier* dossier) {
    constexpr float kButton = 124, kRoom = 360;
    Toolbar bar = view_toolbar(s.ui, rest);
    const bool sheet = dossier, experts = dossier && !dossier->experts.empty();
    auto& state = s.of<CorpusState>();
    const auto button = [&](const char* path, const char* label) {
        return s.ui.button(path, band(bar.take_end(kButton, gap::small), size::button), label);
    };
    if (state.chooses) {
        if (button("corpus/kept", "Back")) state.chooses = false;
        return;
    }
    if (sheet && experts) bar.choose("Show", "corpus/show", {"heads", "experts"}, state.show);
    if (sheet) choose_head(s, bar, "corpus");
    if (sheet && s.sentence() && button("save", "Save…")) s.send("save figure");
    if (!state.file.empty() && bar.rest().w > kRoom && button("corpus/other", "Other texts…"))
        state.chooses = true;
}

/// "120 texts · 3402 tokens · stories.txt".
std::string corpus_summary(const Scene& s, const Dossier& d) {
    std::string out = std::to_string(d.texts) + (d.texts == 1 ? " text" : " texts") + " · " +
                      std::to_string(d.tokens) + " tokens";
    if (const std::string file = file_name(d.file); !file.empty()) out += " · " + shortened(file, 48);
    return out + (d.model == s.model()->name ? "" : " · of " + shortened(d.model, 48));
}

void draw_corpus_progress(Scene& s, Rect line, const CorpusSweep::Found& found) {
    constexpr float kProgress = 320, kBar = 6, kButton = 120;
    Ui& ui = s.ui;
    const std::string texts = std::to_string(found.done) + " of " + std::to_string(found.texts) + " texts";
    if (!s.of<CorpusState>().reads) {
        const Rect button = band(take_left(line, kButton, gap::medium), size::button);
        if (ui.button("corpus/read", button, found.done > 0 ? "Resume" : "Read")) s.send("corpus read", "on");
        ui.name("corpus/cancelled", line);
        return caption(ui, line, found.done > 0 ? "Cancelled at " + texts + "." : std::string("Cancelled."));
    }
    line.w = std::min(line.w, kProgress);
    const Rect words = take_top(line, size::row);
    write(ui, words, kCaption, ui.colors->t2,
          found.texts ? "Read " + texts : std::string("Reading the file"));
    if (ui.link("corpus/cancel", words.right(), words.middle_y(), "Cancel")) s.send("corpus read", "off");
    ui.bar(take_top(line, kBar), found.texts ? float(found.done) / float(found.texts) : 0.0f,
           ui.colors->accent);
}

void draw_corpus_sheet(Scene& s, Rect area, const Dossier& dossier) {
    constexpr float kTitleLine = 36, kLeftShare = 0.42f, kLeast = 400, kMax = 620;
    Ui& ui = s.ui;
    Rect title = take_top(area, kTitleLine, gap::small);
    const bool experts = s.of<CorpusState>().show == CorpusShow::experts && !dossier.experts.empty();
    const float wide = write(ui, title, kTitle, ui.colors->t1,
                             experts ? "Experts" : "Head " + head_name(s.model()->config, chosen_head(s)));
    take_left(title, wide + gap::medium);
    caption(ui, beside_title(title), corpus_summary(s, dossier));
    if (experts) return draw_corpus_experts(s, area, dossier);
    Rect left =
        take_left(area, std::clamp(area.w * kLeftShare, std::min(kLeast, area.w / 2), kMax), gap::section);
    draw_corpus_statistics(s, take_top(left, corpus_statistics_height(left.h), gap::large), dossier);
    draw_corpus_kinds(s, left, dossier);
    draw_corpus_pairs(s, area, dossier);
}

}  // namespace

CorpusSweep::Found corpus_found(const Scene& s) {
    const CorpusState& state = s.of<CorpusState>();
    if (const auto* asked = s.found<DossierRequest>();
        asked && asked->asked.file == state.file && asked->answer)
        return {asked->answer, asked->answer->texts, asked->answer->texts, ""};
    const auto* job = s.answer->job<CorpusSweep>();
    const bool of_this = job && job->work().model.get() == s.model() &&
                         job->work().request.file == state.file &&
                         job->work().request.attempt == state.attempt;
    return of_this ? job->found() : CorpusSweep::Found{};
}

void draw_corpus_start(Scene& s, Rect area) {
    constexpr float kWide = 640, kDown = 0.16f, kButton = 150, kExample = 190, kLine = 30;
    Ui& ui = s.ui;
    Rect r{area.middle_x() - std::min(kWide, area.w) / 2, area.y + area.h * kDown, std::min(kWide, area.w),
           area.h};
    write(ui, take_top(r, kLine, gap::small), kTitle, ui.colors->t1, "Every head over many texts");
    const std::string what =
        "Open a text file, one example per line, to see what each head does across all of them: statistics "
        "with their spread, its strongest pairs of tokens in context, and the kinds of tokens it links. The "
        "model runs without interventions.";
    take_top(r, ui.text.draw_wrapped(r.x, r.y, r.w, kBody, ui.colors->t2, what), gap::wide);
    if (ui.on_page()) return;
    Rect line = take_top(r, size::button, gap::medium);
    if (has_dialog(s.of<CorpusState>()) &&
        ui.button("corpus/browse", take_left(line, kButton, gap::small), "Choose a file…", Ui::Look::primary))
        s.send("browse corpus");
    line.w = std::min(line.w, kFileField);
    draw_file_field(s, line);
    caption(ui, take_top(r, size::line, gap::wide),
            "Or drop a .txt file or a saved analysis (.json) on the window.");
    const Rect example = take_left(r, kExample);
    if (ui.button("corpus/example", {example.x, example.y, example.w, size::button}, "Use 60 example texts"))
        s.send("corpus", kSampleTexts);
}

void draw_corpus(Scene& s, Rect area) {
    constexpr float kProgressHigh = 38;
    Rect rest = area;
    const CorpusSweep::Found found = corpus_found(s);
    if (s.ui.on_page())
        take_top(rest, gap::medium);
    else
        draw_corpus_toolbar(s, rest, found.dossier.get());
    rest = inset(rest, size::center_pad, gap::medium);
    const CorpusState& state = s.of<CorpusState>();
    if (state.file.empty() || (state.chooses && !s.ui.on_page())) return draw_corpus_start(s, rest);
    if (!found.refusal.empty())
        take_top(rest,
                 s.ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, s.ui.colors->warning, found.refusal),
                 gap::medium);
    else if (!s.ui.on_page() && (found.texts == 0 || found.done < found.texts))
        draw_corpus_progress(s, take_top(rest, kProgressHigh, gap::small), found);
    if (found.dossier)
        draw_corpus_sheet(s, rest, *found.dossier);
    else if (!found.refusal.empty())
        draw_corpus_start(s, rest);
}

namespace {

std::vector<Question> ask_corpus(const Scene& s) {
    const std::string& file = s.of<CorpusState>().file;
    return s.ui.on_page() && !file.empty() && !s.answer->job<CorpusSweep>()
               ? std::vector<Question>{DossierRequest{file}}
               : std::vector<Question>{};
}

std::vector<NumberTable> corpus_numbers(const Scene& s) {
    const CorpusSweep::Found found = corpus_found(s);
    return found.dossier ? dossier_numbers(s.model()->config, *found.dossier, chosen_head(s))
                         : std::vector<NumberTable>{};
}

std::optional<Status> write_corpus_document(const Scene& s, const std::filesystem::path& path) {
    const CorpusSweep::Found found = corpus_found(s);
    if (!found.dossier || !is_dossier_path(path)) return std::nullopt;
    return write_dossier(path, *s.model(), *found.dossier);
}

}  // namespace

void CorpusState::read(const std::string& path) {
    file = path;
    ++attempt;
    reads = true;
    chooses = false;
    seen.y = 0;
}

View corpus_view() {
    return {.key = kCorpusView,
            .name = "Many texts",
            .answers = ViewGroup::model,
            .synonyms = "corpus, dataset, over a corpus",
            .letter = 'N',
            .draw = draw_corpus,
            .offered = reads_text,
            .missing = cannot_run,
            .ask = ask_corpus,
            .page_w = 1280,
            .page_h = 860,
            .panels = View::Panels::none,
            .jobs = corpus_jobs,
            .of_model = true,
            .write = write_corpus_document,
            .numbers = corpus_numbers,
            .visit = visit_state<CorpusState>,
            .seen = seen_of<CorpusState>,
            .commands = corpus_commands};
}

}  // namespace headlight
