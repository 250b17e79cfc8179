// Every head over the texts of a file: the sheet of the chosen one.
#pragma once

#include "analysis/corpus/dossier.h"
#include "io/numbers.h"
#include "parts/controls.h"
#include "session/work/jobs.h"

namespace headlight {

struct View;
struct ViewPage;

struct CorpusState {
    std::string file;                // texts, one a line, or a dossier that was saved; "": none
    uint64_t attempt = 0;            // grows when a file is named again
    bool reads = true;               // else its reading was cancelled
    bool chooses = false;            // another file: what was read stays until one is named
    std::optional<bool> has_dialog;  // the desktop's own dialog for files; asked for once
    Viewport seen;                   // of the list of pairs
    void visit(FieldVisitor& v) {
        v.text("corpus", file);
        v.text_option({"corpus", "a file of texts, one per line, or a dossier (.json) from 'heads --corpus'"},
                      file);
        v.choose(nullptr, reads,
                 {"corpus read", "Corpus: read", "read the texts of the corpus, or stop", {"off", "on"}});
    }
};

/// What is known of the file, as far as it was read; on a page what its question found.
CorpusSweep::Found corpus_found(const Scene& scene);

void draw_corpus(Scene& scene, Rect area);
/// In place of a sheet, where no file was named: what it is for, and ways to name one.
void draw_corpus_start(Scene& scene, Rect area);
/// The statistics of the head among those of all.
void draw_corpus_statistics(Scene& scene, Rect area, const Dossier& dossier);
/// Which kinds of tokens it links.
void draw_corpus_kinds(Scene& scene, Rect area, const Dossier& dossier);
/// Its strongest pairs with their sentences.
void draw_corpus_pairs(Scene& scene, Rect area, const Dossier& dossier);
/// How high they stand where both parts of the left column share so much room.
float corpus_statistics_height(float room);

std::vector<Command> corpus_commands();

View corpus_view();

}  // namespace headlight
