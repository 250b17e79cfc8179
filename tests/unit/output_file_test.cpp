// Tests saves that are interrupted or concurrent: a file is whole or absent, and nothing else remains.
#include "io/output_file.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "helpers.h"

using namespace headlight;

TEST_CASE("a save ended by a signal leaves nothing beside the file, and the next save clears a killed one") {
    TemporaryFolder folder;
    const auto target = folder.path / "figure.png";
    const auto files = [&] { return std::distance(std::filesystem::directory_iterator(folder.path), {}); };
    const std::string old(100'000, 'a'), fresh(100'000, 'b');
    std::mt19937 random(7);
    const auto interrupt = [&](int signal) {
        int ready[2];
        REQUIRE(pipe(ready) == 0);
        const pid_t child = fork();
        if (child == 0) {
            for (const int s : {SIGINT, SIGTERM, SIGHUP})
                std::signal(s, SIG_DFL);  // the test program handles them
            static_cast<void>(write_file(target, fresh));
            close(ready[1]);
            for (;;) static_cast<void>(write_file(target, fresh));
        }
        close(ready[1]);
        char byte;
        static_cast<void>(!read(ready[0], &byte, 1));  // it is writing
        close(ready[0]);
        usleep(random() % 3000);
        kill(child, signal);
        int status = 0;
        waitpid(child, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == signal;
    };
    for (int i = 0; i < 120; ++i) {
        REQUIRE(write_file(target, old));
        CHECK(interrupt(std::array{SIGINT, SIGTERM, SIGHUP}[static_cast<size_t>(i) % 3]));
        CHECK(files() == 1);
        const std::string now = read_bytes(target);
        CHECK((now == old || now == fresh));
    }
    for (int i = 0; i < 40; ++i) CHECK(interrupt(SIGKILL));
    REQUIRE(write_file(target, old));
    CHECK(files() == 1);
}

TEST_CASE("a save beside another that is still being written leaves that one alone") {
    TemporaryFolder folder;
    const auto target = folder.path / "table.csv";
    {
        const auto slow = *OutputFile::create(target);
        slow->write("slow");
        REQUIRE(write_file(target, "quick"));
        CHECK(slow->commit());
        CHECK(read_bytes(target) == "slow");
    }
    std::atomic<int> failed{0};
    const auto save = [&] {
        for (int i = 0; i < 100; ++i) failed += !write_file(target, std::string(50'000, 'x'));
    };
    std::thread other(save);
    save();
    other.join();
    CHECK(failed == 0);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a save removes leftovers of its own making alone, not files whose names begin like them") {
    const TemporaryFolder folder;
    const auto target = folder.path / "x.png";
    for (const char* name : {"x.png.part-final", "x.png.part-2", "x.png.part-backup", "x.png.part-0123456789",
                             "x.png.part-ABCDEF01"})
        write_bytes(folder.path / name, "mine");
    write_bytes(folder.path / "x.png.part-0123abcd", "left by a killed save");
    REQUIRE(write_file(target, "new"));
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path))
        files += entry.path().filename() != "x.png";
    CHECK(files == 5);
    CHECK(!std::filesystem::exists(folder.path / "x.png.part-0123abcd"));
}
