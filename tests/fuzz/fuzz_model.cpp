// A valid tiny model with a few fields changed: opened, run on a text, and asked one or two things.
// Bytes: model, text, changes, two things to look at, where; then edits (model_folder.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>

#include "base/check.h"
#include "cli/options.h"
#include "io/heap_tensors.h"
#include "look.h"
#include "model_folder.h"

namespace {

using namespace headlight;

constexpr size_t kHeader = 6, kMaxEdits = 2, kEdit = 6;

constexpr std::array kChanges = {
    "score:1>0@0.0=1e39", "mask:1>0",        "temperature:1e-38",   "ablate:0.0",
    "unmask:0-3>1-4",     "ablate:0.1:mean", "freeze:0.0=Red wine", "skip-mlp:0",
    "skip-attention:1",   "positions:off",   "positions:shuffle:3", "temperature:0@0.1",
    "mask:0-2>0-2"};
constexpr std::array kMasks = {"causal", "none", "window:2"};

InputOptions typed(uint8_t text, uint8_t change, bool vision, bool pairs, bool translates) {
    static const std::array texts = {
        "The cat sat on 7 mats.", "", "a", "Ünïcödé 猫 <s> [MASK]",
        "a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c a b c"};
    InputOptions o;
    o.quiet = true;
    o.threads = 1;
    if (change % 4 == 3) o.changes.push_back(kChanges[change / 4 % kChanges.size()]);
    if (change % 4 == 2) o.mask = kMasks[change / 4 % kMasks.size()];
    if (vision) return o;
    if (text % 8 == 7)
        o.typed.ids = {1, 2, 3, 5, 2};
    else
        o.typed.text = texts[text % 8 % texts.size()];
    if (pairs && text & 8) o.typed.pair = "Red wine";
    if (translates && text & 16) o.typed.target = "Die Katze";
    if (translates && text & 32) o.typed.target_ids = {2, 3, 4};
    return o;
}

void run(fuzz::ModelFiles files, std::span<const uint8_t> header) {
    static ThreadPool pool(1);
    const auto& scratch = fuzz::scratch_folder();
    const auto model = Model::open(fuzz::write_model(files, scratch / "model"));
    if (!model) return fuzz::check_message(model.error());
    const ModelConfig& c = (*model)->config;
    InputOptions options =
        typed(header[1], header[2], c.can.read_image, c.can.fill_masks, c.can.write_target);
    if (c.can.read_image) options.image = fuzz::write_picture(files, scratch).string();
    auto request = read_request(options, *model, pool);
    if (!request) return fuzz::check_message(request.error());
    const auto trace = run_trace(*model, std::move(*request), pool);
    if (!trace) return fuzz::check_message(trace.error());
    HEADLIGHT_CHECK((*trace)->normalized().all().allFinite());
    fuzz::look_at(*trace, header[3], header[5], scratch, pool);
    if (header[4] < 128) fuzz::look_at(*trace, header[4], header[5], scratch, pool);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < kHeader) return 0;
    static const bool once = [] {
        tensors_on_the_heap(true);
        abort_on_failed_check(true);
        return true;
    }();
    (void)once;
    const auto& models = fuzz::valid_models();
    fuzz::ModelFiles files = models[data[0] % models.size()];
    fuzz::apply_edits(files,
                      std::span(data, size).subspan(kHeader, std::min(size - kHeader, kMaxEdits * kEdit)));
    fuzz::tell_failures([&] { run(std::move(files), std::span(data, kHeader)); });
    return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

/// Every byte is a choice among equals, so most tries are drawn afresh instead of grown from earlier ones.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    std::minstd_rand draw(seed);
    if (draw() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
    const size_t edits = 1 + draw() % kMaxEdits, count = std::min(max_size, kHeader + edits * kEdit);
    std::generate_n(data, count, [&] { return static_cast<uint8_t>(draw() >> 8); });
    return count;
}
