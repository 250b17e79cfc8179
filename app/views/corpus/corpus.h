// Shows the selected head over the texts of a file.
#pragma once

#include "analysis/corpus/dossier.h"
#include "io/numbers.h"
#include "parts/controls.h"
#include "session/work/jobs.h"

namespace headlight {

struct View;
struct ViewPage;

/// Says what is shown of the texts: the selected head, or the experts of a mixture.
enum class CorpusShow { heads, experts };

struct CorpusState {
    std::string file;                // texts, one per line, or a saved dossier; "": none
    uint64_t attempt = 0;            // incremented when a file is opened again
    bool reads = true;               // else cancelled
    bool chooses = false;            // choosing another file; keeps the current results
    std::optional<bool> has_dialog;  // the desktop has a file dialog; cached
    CorpusShow show = CorpusShow::heads;
    Viewport seen;  // of the list of pairs
    /// Reads a file of texts or a saved dossier, from its start.
    void read(const std::string& path);
    void visit(FieldVisitor& v) {
        v.text("corpus", file);
        v.text_option({"corpus", "a file of texts, one per line, or a dossier (.json) from 'heads --corpus'"},
                      file);
        v.choose("corpus_show", show,
                 {"corpus show",
                  "Corpus: show",
                  "the selected head over the texts, or the experts that their tokens go to",
                  {"heads", "experts"}},
                 {.name = "corpus-show", .figure_alone = true});
        v.choose(nullptr, reads,
                 {"corpus read", "Corpus: read", "read the texts of the corpus, or stop", {"off", "on"}});
    }
};

/// The results so far; on a page, the answer to its question.
CorpusSweep::Found corpus_found(const Scene& scene);

void draw_corpus(Scene& scene, Rect area);
/// Draws the introduction and the ways to open a file, if none is open.
void draw_corpus_start(Scene& scene, Rect area);
/// Draws the statistics of the head among those of all.
void draw_corpus_statistics(Scene& scene, Rect area, const Dossier& dossier);
/// Draws the kinds of tokens it links.
void draw_corpus_kinds(Scene& scene, Rect area, const Dossier& dossier);
/// Draws its strongest pairs in context.
void draw_corpus_pairs(Scene& scene, Rect area, const Dossier& dossier);
/// Draws how often each expert is chosen, layer by layer, and by which tokens.
void draw_corpus_experts(Scene& scene, Rect area, const Dossier& dossier);
/// The height of the statistics in a left column of this height.
float corpus_statistics_height(float room);

std::vector<Command> corpus_commands();

View corpus_view();

}  // namespace headlight
