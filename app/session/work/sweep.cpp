#include "session/work/sweep.h"

namespace headlight {

Sweep::Sweep(std::shared_ptr<const Trace> trace, std::shared_ptr<const Trace> own, const Metric& metric,
             std::function<void()> done)
    : trace_(std::move(trace)),
      own_(std::move(own)),
      asked_(metric),
      measuring_(
          {},
          [this](ThreadPool& pool, const CancelFlag* cancel, const auto& tell) -> Status {
              TRY(HeadEffects effects, head_effects(*trace_, own_.get(), asked_, pool, cancel, &done_heads_));
              tell({std::make_shared<const HeadEffects>(std::move(effects)), ""});
              return success();
          },
          [](std::string why) {
              Found found;
              found.failure = std::move(why);
              return found;
          },
          [done = std::move(done)](bool ended) {
              if (ended) done();
          }) {}

}  // namespace headlight
