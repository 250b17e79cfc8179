// Reads what a server of the engine's protocol sends: its description of a model, and its answer to a pass.
#include <cstring>
#include <vector>

#include "base/check.h"
#include "engine/remote_trace.h"

namespace {

using namespace headlight;

/// Looks at every pattern of a pass over three tokens.
void look(const EngineDescription& described, const Frame& answer) {
    const std::shared_ptr<const Model> model = described.model;
    ForwardRequest request;
    request.inputs.resize(model->config.stacks.size());
    for (Sequence& s : request.inputs) s = {{0, 1, 2}, {"a", "b", "c"}, {}, nullptr};
    const auto rules = answered_rules(answer.header, model->config);
    if (!rules || model->config.head_count() > 64) return;
    const auto trace = remote_trace(model, request, answer, *rules, 0, nullptr, nullptr);
    if (!trace) return;
    for (int block = 0; block < model->config.blocks(); ++block)
        for (int head = 0; head < model->config.heads(block); ++head)
            if (!(*trace)->pattern(block, head).allFinite()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto first = std::as_bytes(std::span(data, size));
    FrameSizes sizes;
    if (size < kPrefaceBytes) return 0;
    if (const auto read = read_preface(first.first<kPrefaceBytes>()))
        sizes = *read;
    else
        return 0;
    const auto described = parse_frame(first);
    if (!described) return 0;
    const auto model = guarded([&] { return read_description(*described); });
    const size_t length = kPrefaceBytes + sizes.header + sizes.body;
    const std::vector<std::byte> second(first.begin() + static_cast<ptrdiff_t>(length), first.end());
    if (const auto answer = parse_frame(second); model && answer)
        static_cast<void>(guarded([&]() -> Status {
            look(*model, *answer);
            return success();
        }));
    return 0;
}
