// Tests the memory limits on trees of files like the kernel's.
#include "base/memory_limits.h"
#include "helpers.h"

using namespace headlight;

namespace {

constexpr int64_t kMega = 1 << 20, kGiga = 1 << 30;

/// Holds a file system with the kernel's files.
struct FakeSystem {
    TemporaryFolder folder;
    FakeSystem(int64_t available, const std::string& groups) {
        write("proc/meminfo", "MemTotal:       99999999 kB\nMemFree:          12 kB\nMemAvailable:   " +
                                  std::to_string(available / 1024) + " kB\nHugePages_Total:       0\n");
        write("proc/self/cgroup", groups);
    }
    void write(const std::string& file, const std::string& text) const {
        const auto path = folder.path / file;
        std::filesystem::create_directories(path.parent_path());
        write_bytes(path, text);
    }
    /// Adds a group of version 2; max −1: "max".
    void group(const std::string& name, int64_t max, int64_t current, int64_t inactive) const {
        const std::string at = "sys/fs/cgroup" + name + "/";
        write(at + "memory.max", max < 0 ? "max\n" : std::to_string(max) + "\n");
        write(at + "memory.current", std::to_string(current) + "\n");
        write(at + "memory.stat", "anon 123\nfile " + std::to_string(inactive + 5) +
                                      "\ninactive_anon 7\ninactive_file " + std::to_string(inactive) +
                                      "\nactive_file 5\n");
    }
    int64_t left(int64_t address_space = 0) const { return memory_left(folder.path, address_space); }
};

}  // namespace

TEST_CASE("memory: cached file pages count as free") {
    const FakeSystem system(64 * kGiga, "0::/\n");
    system.group("", 8 * kGiga, 7 * kGiga, 6 * kGiga);
    CHECK(system.left() == 7 * kGiga);
}

TEST_CASE("memory: a group's limit above what the computer has free promises nothing") {
    const FakeSystem system(3 * kGiga, "0::/\n");
    system.group("", 100 * kGiga, kGiga, 0);
    CHECK(system.left() == 3 * kGiga);
}

TEST_CASE("memory: the minimum over the group and its ancestors counts") {
    const FakeSystem system(64 * kGiga, "0::/user.slice/user-1000.slice/app.scope\n");
    system.group("", -1, 40 * kGiga, 0);
    system.group("/user.slice", 10 * kGiga, 9 * kGiga, kGiga);
    system.group("/user.slice/user-1000.slice", -1, kGiga, 0);
    system.group("/user.slice/user-1000.slice/app.scope", 4 * kGiga, kGiga, kGiga / 2);
    system.group("/other.slice", kMega, kMega, 0);
    CHECK(system.left() == 2 * kGiga);
    system.group("/user.slice", -1, 9 * kGiga, kGiga);
    CHECK(system.left() == 4 * kGiga - kGiga / 2);
    system.group("/user.slice/user-1000.slice/app.scope", -1, kGiga, 0);
    CHECK(system.left() == 64 * kGiga);
}

TEST_CASE("memory: a container sees only its own group, whatever its path") {
    for (const char* groups : {"0::/docker/0123abc\n", "0::/../../pod/x:y\n", "0::/\n"}) {
        const FakeSystem system(64 * kGiga, groups);
        system.group("", 2 * kGiga, kGiga, 0);
        CAPTURE(groups);
        CHECK(system.left() == kGiga);
    }
}

TEST_CASE("memory: a full group has a byte left, not an unknown amount") {
    const FakeSystem system(64 * kGiga, "0::/\n");
    system.group("", kGiga, 2 * kGiga, 0);
    CHECK(system.left() == 1);
    system.group("", kGiga, kGiga / 2, kGiga);  // counted at different moments
    CHECK(system.left() == kGiga);
}

TEST_CASE("memory: groups of the first version, alone and beside the second") {
    const FakeSystem system(64 * kGiga, "12:cpu,cpuacct:/a\n5:memory:/a/b\n1:name=systemd:/a\n0::/a\n");
    system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    system.write("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", std::to_string(4 * kGiga) + "\n");
    system.write("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", std::to_string(3 * kGiga) + "\n");
    system.write("sys/fs/cgroup/memory/a/b/memory.stat",
                 "inactive_file 1\ntotal_inactive_file " + std::to_string(2 * kGiga) + "\n");
    CHECK(system.left() == 3 * kGiga);
    system.group("/a", kGiga, kMega, 0);  // hybrid: memory may be version 2's
    CHECK(system.left() == kGiga - kMega);
}

TEST_CASE("memory: a limit of the address space counts what is mapped") {
    const FakeSystem system(64 * kGiga, "0::/\n");
    system.write("proc/self/status", "Name:\theadlight\nVmPeak:\t 9000000 kB\nVmSize:\t 1048576 kB\n");
    CHECK(system.left(3 * kGiga) == 2 * kGiga);
    CHECK(system.left(kGiga / 2) == 1);
    CHECK(system.left() == 64 * kGiga);
}

TEST_CASE("memory: without information the amount is unknown") {
    const TemporaryFolder empty;
    CHECK(memory_left(empty.path, 0) == 0);
    CHECK(memory_left(empty.path, kGiga) == kGiga);
    CHECK(memory_left("/", 0) > 0);
}
