/* Holds what objects compiled on Debian 12 ask of its C library and Debian 11's lacks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* Promises nothing: 0 makes shared pointers count atomically always. */
char __libc_single_threaded = 0;

uint32_t arc4random(void) {
    uint32_t out;
    if (getrandom(&out, sizeof out, 0) != sizeof out) abort();
    return out;
}

struct search {
    uintptr_t address;
    struct dl_find_object* found;
};

static int holds(struct dl_phdr_info* object, size_t size, void* data) {
    struct search* search = data;
    uintptr_t begin = 0, end = 0, frame = 0;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)* part = object->dlpi_phdr + i;
        const uintptr_t at = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME) frame = at;
        if (part->p_type != PT_LOAD || search->address < at || search->address >= at + part->p_memsz) continue;
        begin = at;
        end = at + part->p_memsz;
    }
    if (!end) return 0;
    search->found->dlfo_map_start = (void*)begin;
    search->found->dlfo_map_end = (void*)end;
    search->found->dlfo_eh_frame = (void*)frame;
    return frame ? 1 : -1;
}

/* Lets the unwinder that is linked in find the frames of whatever object threw. */
int _dl_find_object(void* address, struct dl_find_object* found) {
    struct search search = {(uintptr_t)address, found};
    found->dlfo_flags = 0;
    found->dlfo_link_map = 0;
    return dl_iterate_phdr(holds, &search) == 1 ? 0 : -1;
}
