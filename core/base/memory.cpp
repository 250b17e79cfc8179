#include "base/memory.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace headlight {

void keep_freed_memory() {
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

}  // namespace headlight
