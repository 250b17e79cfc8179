// Chooses the compilation of the kernels for this processor.
#include "kernels/choice.h"

#include <cstdlib>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/quoted.h"

namespace headlight {

extern const Kernels kBaseKernels;
#if defined(__x86_64__)
extern const Kernels kV3Kernels, kV4Kernels;
#endif

namespace {

struct Row {
    const Kernels* kernels;
    bool usable;
};

#if defined(__x86_64__)
/// Tests for F16C by CPUID: not every compiler knows its name.
bool reads_halves() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

/// Lists the compilations, the most portable first. Tests feature bits, not names of processors.
std::vector<Row> table() {
    std::vector<Row> rows{{&kBaseKernels, true}};
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2") && reads_halves();
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    rows.push_back({&kV3Kernels, v3});
    rows.push_back({&kV4Kernels, v4});
#endif
    return rows;
}

const char* wanted() { return std::getenv("HEADLIGHT_KERNELS"); }

}  // namespace

std::vector<const Kernels*> usable_kernels() {
    std::vector<const Kernels*> out;
    for (const Row& row : table())
        if (row.usable) out.push_back(row.kernels);
    return out;
}

Result<const Kernels*> find_kernels(std::string_view name) {
    std::string names;
    for (const Row& row : table()) {
        if (name == row.kernels->name || (name == "v1" && row.kernels == &kBaseKernels)) {
            if (row.usable) return row.kernels;
            return Error{"This processor cannot run the instruction set " + std::string(name) +
                         "; unset HEADLIGHT_KERNELS, and the best that it can is chosen."};
        }
        names += (names.empty() ? "" : ", ") + std::string(row.kernels->name);
    }
    return Error{"HEADLIGHT_KERNELS is " + in_quotes(name) + ", which is none of " + names +
                 "; unset it, and the best that this processor can run is chosen."};
}

const Kernels& kernels() {
    static const Kernels& chosen = [&]() -> const Kernels& {
        if (const char* name = wanted())
            if (const auto found = find_kernels(name)) return **found;
        return *usable_kernels().back();
    }();
    return chosen;
}

Status check_kernels() {
    if (!wanted()) return success();
    const auto found = find_kernels(wanted());
    return found ? success() : Status(found.error());
}

}  // namespace headlight
