#include "session/work/composition_sweep.h"

namespace headlight {

namespace {

CompositionFound not_composed(std::string why) {
    Composition out;
    out.refusal = std::move(why);
    return {std::make_shared<const Composition>(std::move(out)), 0, 0};
}

Status compose_all(const Model& model, ThreadPool& pool, const CancelFlag* cancel,
                   const std::function<void(CompositionFound)>& tell) {
    CompositionFound now{nullptr, 0, composition_steps(model.config, std::nullopt)};
    const auto step = [&] {
        ++now.done;
        tell(now);
    };
    TRY(Composition all, model_composition(model, pool, cancel, Patience::long_wait, step));
    TRY_STATUS(model.store.check_unchanged());
    now.composition = std::make_shared<const Composition>(std::move(all));
    tell(now);
    return success();
}

}  // namespace

CompositionSweep::CompositionSweep(std::shared_ptr<const Model> model, std::function<void(bool)> seen)
    : model_(std::move(model)),
      measuring_(
          {},
          [this](ThreadPool& pool, const CancelFlag* cancel, const auto& tell) {
              return compose_all(*model_, pool, cancel, tell);
          },
          not_composed, std::move(seen)) {}

}  // namespace headlight
