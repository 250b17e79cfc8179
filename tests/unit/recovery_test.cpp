// Tests what survives the end of a process: recovery, the saver, terminating signals.
#include "session/recovery.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "helpers.h"
#include "session/end_signals.h"
#include "session/saver.h"
#include "session/workspace.h"

namespace headlight {

TEST_CASE("recovery: at logout a window leaves its text unless it is the last one") {
    const TemporaryFolder folder;
    Recovery first(folder.path), last(folder.path);
    write_bytes(first.own(), "first");
    write_bytes(last.own(), "last");
    first.end_for_logout();
    last.end_for_logout();
    const Recovery next(folder.path);
    REQUIRE(next.left());
    CHECK((next.left()->shown && read_bytes(next.left()->workspace) == "first"));
}

TEST_CASE("recovery: a killed process's workspace is offered once, a normal end leaves nothing") {
    const TemporaryFolder folder;
    const auto place = folder.path / "recovery";
    const auto leave = [&](bool shown) {
        const pid_t child = fork();
        if (child == 0) {
            Recovery r(place);
            write_bytes(r.own(), "{}");
            if (shown) r.mark_shown();
            kill(getpid(), SIGKILL);
        }
        waitpid(child, nullptr, 0);
    };
    {
        Recovery quiet(place);
        CHECK(!quiet.left());
        write_bytes(quiet.own(), "{}");
        Recovery beside(place);
        CHECK_MESSAGE((!beside.left() && beside.own() != quiet.own()), "a window that is open is not left");
        quiet.end();
        beside.end();
        CHECK(!Recovery(place).left());
    }
    leave(true);
    {
        Recovery next(place);
        REQUIRE(next.left());
        CHECK((next.left()->shown && read_bytes(next.left()->workspace) == "{}"));
        CHECK_MESSAGE(!Recovery(place).left(), "one window offers it");
    }
    {
        Recovery again(place);
        REQUIRE(again.left());
        again.drop_left();
        CHECK(!again.left());
        again.end();
    }
    CHECK(!Recovery(place).left());
    leave(false);
    Recovery last(place);
    REQUIRE(last.left());
    CHECK_MESSAGE(!last.left()->shown, "what never was on the screen may be what ended the program");
    std::filesystem::create_directory(folder.path / "locked");
    std::filesystem::permissions(folder.path / "locked",
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    if (getuid() != 0) CHECK(Recovery(folder.path / "locked" / "recovery").own().empty());
    CHECK(Recovery("/dev/null/recovery").own().empty());
}

TEST_CASE("the saver writes the newest state, the last one at its end, and reports errors") {
    std::vector<int> written;
    {
        Saver saver([&](const Saver::Snapshot& s) -> Status {
            written.push_back(s.settings["n"].get<int>());
            if (written.back() == 1) throw std::runtime_error("a disk on fire");
            return success();
        });
        saver.put({{{"n", 1}}, {}});
        for (int i = 0; i < 1000 && saver.last(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        CHECK(!saver.last());
        for (int i = 2; i <= 50; ++i) saver.put({{{"n", i}}, {}});
        CHECK(saver.finish());
    }
    CHECK((written.size() <= 50 && written.front() == 1 && written.back() == 50));
    SaveClock clock;
    CHECK((!clock.wait(1) && !clock.take(1)));
    clock.touch(1);
    clock.touch(1.4);
    CHECK((!clock.take(1.3) && *clock.wait(1.2) < SaveClock::kDelay && clock.take(1 + SaveClock::kDelay) &&
           !clock.take(9)));
}

TEST_CASE("the first signal requests the end, the second ends the process") {
    const pid_t child = fork();
    if (child == 0) {
        std::atomic<int> woken{0};
        EndSignals signals([&] { ++woken; });
        raise(SIGTERM);
        for (int i = 0; i < 1000 && !woken; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        if (!woken || !signals.received()) _exit(1);
        raise(SIGTERM);
        _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
}

}  // namespace headlight
