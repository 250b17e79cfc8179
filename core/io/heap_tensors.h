// For fuzzers: tensors in heap blocks of their exact size. A mapped file hides from a sanitizer what is read
// beyond a tensor.
#pragma once

#include "io/tensor.h"

namespace headlight {

/// Whether files that are opened from now on have their tensors copied to such blocks.
void tensors_on_the_heap(bool on);

/// What `tensors` point into, to be kept while they live: the mapped file, or the blocks that they are copied
/// to.
std::shared_ptr<const MappedFile> tensor_owner(std::shared_ptr<const MappedFile> mapped,
                                               std::map<std::string, StoredTensor>& tensors);

}  // namespace headlight
