// A corpus read beside the worker: what it says of every head, growing text by text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analysis/corpus/corpus_file.h"
#include "session/work/background_job.h"

namespace headlight {

/// Which file, and whether it is read.
struct DossierWish {
    std::string file;
    uint64_t attempt = 0;    // grows when the same file shall be read again
    bool begins = true;      // else only what was begun goes on
    bool cancelled = false;  // what was read stays
    bool operator==(const DossierWish&) const = default;
};

/// As far as it is known.
struct DossierFound {
    std::shared_ptr<const Dossier> dossier;  // null: nothing yet
    int done = 0, texts = 0;                 // read, and in all; 0: not counted yet
    std::string refusal;                     // why it cannot be read, or can no further
};

class DossierSweep {
public:
    /// Begins, or goes on where `before` (or null) was stopped; `seen(ended)` is called on the sweep's thread
    /// whenever more is known, and at its end, unless it was stopped.
    DossierSweep(std::shared_ptr<const Model> model, DossierWish wish, std::function<void(bool)> seen,
                 const DossierSweep* before = nullptr);
    /// Cancels it and waits until it has stopped; what was read stays.
    void stop() { measuring_.stop(); }

    bool is_of(const Model* model, const DossierWish& wish) const {
        return model == model_.get() && wish.file == wish_.file && wish.attempt == wish_.attempt;
    }
    bool stopped() const { return measuring_.stopped() && !ended(); }
    bool ended() const { return measuring_.ended(); }
    bool goes_on() const { return !ended() && !measuring_.stopped(); }
    DossierFound found() const { return measuring_.found(); }

private:
    /// What was read so far; of the sweep's thread until it has stopped.
    struct Reading {
        CorpusLines lines;
        Corpus corpus;
    };
    Status measure(ThreadPool& pool, const CancelFlag* cancel, const std::function<void(DossierFound)>& tell);
    DossierFound now() const;

    std::shared_ptr<const Model> model_;
    DossierWish wish_;
    std::optional<Reading> reading_;
    Measuring<DossierFound> measuring_;  // the last: it ends before what it reads
};

}  // namespace headlight
