// Copies tensors to the heap, for fuzzers.
#include "io/heap_tensors.h"

#include <atomic>
#include <cstring>

namespace headlight {

namespace {

std::atomic<bool> on_the_heap{false};

struct HeapBlocks {
    std::shared_ptr<const MappedFile> mapped;
    std::vector<std::unique_ptr<std::byte[]>> blocks;
};

}  // namespace

void tensors_on_the_heap(bool on) { on_the_heap = on; }

std::shared_ptr<const MappedFile> tensor_owner(std::shared_ptr<const MappedFile> mapped,
                                               std::map<std::string, StoredTensor>& tensors) {
    if (!on_the_heap) return mapped;
    const auto owner = std::make_shared<HeapBlocks>();
    owner->mapped = std::move(mapped);
    for (auto& [name, tensor] : tensors) {
        auto& block =
            owner->blocks.emplace_back(std::make_unique_for_overwrite<std::byte[]>(tensor.bytes.size()));
        if (!tensor.bytes.empty()) std::memcpy(block.get(), tensor.bytes.data(), tensor.bytes.size());
        tensor.bytes = {block.get(), tensor.bytes.size()};
    }
    return {owner, owner->mapped.get()};
}

}  // namespace headlight
