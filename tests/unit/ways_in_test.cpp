// Tests that nothing outside, in paths, folders, locks and turns, ends the program.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "helpers.h"
#include "hub/library.h"
#include "io/folder.h"
#include "session/file_kind.h"
#include "session/presets.h"
#include "session/recovery.h"
#include "window/barrier.h"

namespace headlight {

namespace fs = std::filesystem;

TEST_CASE("barrier: a turn that throws is reported and dropped; the third in a row is an error") {
    Barrier barrier;
    std::vector<std::string> told;
    const auto tell = [&](const std::string& why) { told.push_back(why); };
    const auto throws = []() -> Result<bool> { throw std::bad_alloc(); };
    const auto works = []() -> Result<bool> { return true; };
    for (int i = 0; i < 3; ++i) {
        const auto thrown = barrier.pass(throws, tell);
        REQUIRE(thrown);
        CHECK(!*thrown);
        const auto worked = barrier.pass(works, tell);
        REQUIRE(worked);
        CHECK_MESSAGE(*worked, "what a turn answers is handed on");
    }
    REQUIRE(told.size() == 3);
    CHECK(told[0].find("not enough memory") != std::string::npos);
    CHECK(barrier.pass(throws, tell));
    CHECK(barrier.pass(throws, tell));
    CHECK(!barrier.pass(throws, tell));
    CHECK_MESSAGE(!barrier.pass([]() -> Result<bool> { return Error{"said"}; }, tell), "an error is one");
}

TEST_CASE("paths: a removed folder is empty, and a path in it stays unchanged") {
    CHECK(folder_entries("/nowhere at all").empty());
    const TemporaryFolder folder;
    for (const char* name : {"b", "a", "c"}) write_bytes(folder.path / name, "");
    const auto all = folder_entries(folder.path), two = folder_entries(folder.path, 2);
    REQUIRE(all.size() == 3);
    CHECK((all[0].filename() == "a" && all[2].filename() == "c" && two.size() == 2));
    const pid_t child = fork();
    if (child == 0) {  // its own process, whose working folder is removed
        const fs::path gone = folder.path / "gone";
        std::error_code ignored;
        fs::create_directories(gone, ignored);
        const bool moved = chdir(gone.c_str()) == 0;
        fs::remove(gone, ignored);
        _exit(moved && absolute_path("x/../y") == "y" && !find_model("y") ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST_CASE("paths: ~ is the home folder wherever a model is named") {
    const TemporaryFolder folder;
    const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
    setenv("HOME", folder.path.c_str(), 1);
    write_bytes(folder.path / "m.gguf", "x");
    const auto found = find_model("~/m.gguf");
    CHECK((found && *found == folder.path / "m.gguf"));
    CHECK((expand_home("~") == folder.path / "" && expand_home("~x") == "~x" &&
           expand_home("a/~/b") == "a/~/b"));
    setenv("HOME", before.c_str(), 1);
}

TEST_CASE("files: one function says what a path opens as, typed, dropped or given at the start") {
    const TemporaryFolder folder;
    const auto kind = [&](const char* name, const char* content) {
        write_bytes(folder.path / name, content);
        return kind_of_file((folder.path / name).string());
    };
    CHECK(kind("a.headlight.json", "{}") == FileKind::workspace);
    CHECK(kind("a.jsonl", "{}") == FileKind::corpus);
    CHECK(kind("config.json", "{}") == FileKind::config);
    CHECK(kind("a.TXT", "words") == FileKind::text);
    CHECK(kind("a.png", "") == FileKind::picture);
    CHECK(kind("a.gguf", "") == FileKind::model);
    CHECK(kind_of_file(folder.path.string()) == FileKind::model);
}

TEST_CASE("recovery: without working locks no window takes another's slot for orphaned") {
    const TemporaryFolder folder;
    lock_files_with([](int, int) {
        errno = ENOLCK;
        return -1;
    });
    Recovery open(folder.path);
    write_bytes(open.own(), "typed in the other window");
    {
        Recovery second(folder.path);
        CHECK_MESSAGE(!second.left(), "a live window's text is not offered");
        CHECK(second.own() != open.own());
        second.end();
    }
    CHECK(read_bytes(open.own()) == "typed in the other window");
    open.end();
    lock_files_with(nullptr);
    const auto held = FileLock::take(folder.path / "a", 0);
    CHECK((held && held->held()));
}

TEST_CASE("paths: a model has one key for every spelling of its path, and names are kept") {
    const TemporaryFolder folder;
    const fs::path real = fs::canonical(folder.path), model = real / "m", link = real / "link";
    fs::create_directory(model);
    fs::create_directory_symlink(real, link);
    std::ofstream(model / "config.json") << "{}";
    std::ofstream(model / "a.gguf") << "GGUF";
    fs::create_symlink(model / "a.gguf", model / "b.gguf");
    const std::string key = model.string();
    const auto relative = fs::relative(model);
    for (const fs::path& spelled : {model, model / "", link / "m", real / "." / "m" / "..", relative})
        CHECK(model_key((spelled.filename() == ".." ? spelled / "m" : spelled).string()) == key);
    CHECK(model_key((link / "m/./a.gguf").string()) == key + "/a.gguf");
    CHECK_MESSAGE(model_key((link / "m/b.gguf").string()) == key + "/b.gguf",
                  "what lies beside a link is its");
    for (const char* name : {"stories", "openai-community/gpt2", "llama3.2:1b", ""})
        CHECK(model_key(name) == name);
    CHECK(model_key("/gone/./m/") == "/gone/m");
    const char* home = std::getenv("HOME");
    if (home && *home) CHECK(model_key("~/gone") == fs::weakly_canonical(fs::path(home)).string() + "/gone");
}

}  // namespace headlight
