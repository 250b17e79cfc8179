#include "session/work/dossier_sweep.h"

#include <chrono>

namespace headlight {

DossierSweep::DossierSweep(std::shared_ptr<const Model> model, DossierWish wish,
                           std::function<void(bool)> seen, const DossierSweep* before)
    : model_(std::move(model)),
      wish_(std::move(wish)),
      reading_(before ? before->reading_ : std::nullopt),
      measuring_(
          before ? before->found() : DossierFound{},
          [this](ThreadPool& pool, const CancelFlag* cancel, const auto& tell) {
              return measure(pool, cancel, tell);
          },
          [this](std::string why) {
              DossierFound out = found();
              out.refusal = std::move(why);
              return out;
          },
          std::move(seen)) {}

/// What the texts that were read say.
DossierFound DossierSweep::now() const {
    const auto& [lines, corpus] = *reading_;
    if (corpus.texts() == 0) return {nullptr, 0, lines.count(), ""};
    return {std::make_shared<const Dossier>(dossier_of(*model_, corpus, wish_.file)), corpus.texts(),
            lines.count(), ""};
}

Status DossierSweep::measure(ThreadPool& pool, const CancelFlag* cancel,
                             const std::function<void(DossierFound)>& tell) {
    constexpr std::chrono::milliseconds kBetween(300);
    if (!reading_ && is_read_as_dossier(wish_.file)) {
        TRY(Dossier read, open_dossier(wish_.file, model_->config));
        const int texts = read.texts;
        tell({std::make_shared<const Dossier>(std::move(read)), texts, texts, ""});
        return success();
    }
    if (!reading_) {
        TRY(CorpusLines lines, CorpusLines::open(wish_.file, 1, cancel));
        reading_.emplace(Reading{std::move(lines), Corpus(model_->config, kStrongestLinks)});
    }
    tell(now());
    auto told = std::chrono::steady_clock::now() - kBetween;
    const auto seen = [&] {
        const auto clock = std::chrono::steady_clock::now();
        if (clock - told < kBetween) return;
        told = clock;
        tell(now());
    };
    const Status read =
        read_corpus({model_, read_plainly(*model_), seen}, reading_->lines, reading_->corpus, pool, cancel);
    tell(now());
    return read;
}

}  // namespace headlight
