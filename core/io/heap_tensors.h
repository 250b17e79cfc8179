// Places tensors in heap blocks of their exact size, for fuzzers: sanitizers do not see into mapped files.
#pragma once

#include "io/tensor.h"

namespace headlight {

/// Makes files opened from now on copy their tensors to such blocks.
void tensors_on_the_heap(bool on);

/// Returns the owner of the memory that `tensors` point to: the mapped file, or the blocks with the copies.
std::shared_ptr<const MappedFile> tensor_owner(std::shared_ptr<const MappedFile> mapped,
                                               std::map<std::string, StoredTensor>& tensors);

}  // namespace headlight
