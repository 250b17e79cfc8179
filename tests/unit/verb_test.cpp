// Tests commands: their output stays, and none appears if an input was truncated meanwhile.
#include <CLI/CLI.hpp>

#include "cli/command_line.h"
#include "cli/usage.h"
#include "helpers.h"
#include "io/lost_files.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

using namespace headlight;

namespace {

constexpr size_t kLong = 1 << 16, kCut = 4096;

struct CutBench {
    TemporaryFolder folder;
    std::filesystem::path source = folder.path / "source", target = folder.path / "target";

    CutBench() {
        REQUIRE(write_file(source, std::string(kLong, 'a')));
        REQUIRE(write_file(target, "old"));
    }
    ~CutBench() { forget_lost_files(); }

    void cut() const { std::filesystem::resize_file(source, kCut); }
    std::string written() const { return read_bytes(target); }
    /// Copies a file, as a command would.
    static Status copy(const MappedFile& from, OutputFile& out) {
        out.write(from.text());
        return out.commit();
    }
};

}  // namespace

TEST_CASE("an input truncated before a commit keeps the old output, with an error") {
    const CutBench bench;
    const Status done = run_verb([&]() -> Status {
        TRY(const auto from, MappedFile::open(bench.source));
        TRY(const auto out, OutputFile::create(bench.target));
        bench.cut();
        return CutBench::copy(*from, *out);
    });
    REQUIRE(!done);
    CHECK(done.error().message.find("changed on the disk") != std::string::npos);
    CHECK(bench.written() == "old");
}

TEST_CASE("an input truncated and closed before a commit keeps the old output") {
    const CutBench bench;
    const Status done = run_verb([&]() -> Status {
        std::string read;
        {
            TRY(const auto from, MappedFile::open(bench.source));
            bench.cut();
            read = std::string(from->text().substr(0, kCut));
        }
        return write_file(bench.target, read);
    });
    REQUIRE(!done);
    CHECK(done.error().message.find("changed on the disk") != std::string::npos);
    CHECK(bench.written() == "old");
}

TEST_CASE("an input truncated after a commit has no effect: the output stays, without an error") {
    const CutBench bench;
    const Status done = run_verb([&]() -> Status {
        TRY(const auto from, MappedFile::open(bench.source));
        TRY(const auto out, OutputFile::create(bench.target));
        const Status committed = CutBench::copy(*from, *out);
        bench.cut();
        return committed;
    });
    CHECK(done);
    CHECK(bench.written() == std::string(kLong, 'a'));
}

TEST_CASE("a command that fails on a truncated file says so; earlier truncations do not affect the next") {
    const CutBench bench;
    const auto fails = [&](bool cuts) {
        return run_verb([&]() -> Status {
            TRY(const auto from, MappedFile::open(bench.source));
            if (cuts) bench.cut();
            return Error{"The numbers make no sense."};
        });
    };
    CHECK(fails(true).error().message.find("changed on the disk") != std::string::npos);
    CHECK(fails(false).error().message == "The numbers make no sense.");
    CHECK(run_verb([&] { return write_file(bench.target, "new"); }));
    CHECK(bench.written() == "new");
}

TEST_CASE("outside a command, a commit ignores truncated inputs") {
    const CutBench bench;
    const auto from = MappedFile::open(bench.source);
    REQUIRE(from);
    bench.cut();
    CHECK(write_file(bench.target, "new"));
}

TEST_CASE("a misspelled word is known by its neighbors, and a strange one by none") {
    const std::vector<std::string> among{"--json", "--head", "--heads", "--text", "--text-file"};
    for (const auto& [word, meant] : {std::pair{"--josn", "--json"},
                                      {"--haed", "--head"},
                                      {"--txt", "--text"},
                                      {"--textfile", "--text-file"},
                                      {"--nonsense", ""},
                                      {"", ""}})
        CHECK(nearest_word(word, among) == meant);
    CHECK(nearest_word(std::string(100'000, 'x'), among).empty());
}
