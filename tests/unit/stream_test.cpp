// Tests files that are opened without blocking, and texts from a pipe, one line in memory.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

#include "analysis/corpus/corpus_file.h"
#include "helpers.h"
#include "hub/hub.h"
#include "io/image.h"
#include "io/text_file.h"

using namespace headlight;

namespace {

/// Writes into a pipe from a thread.
struct Piped {
    int ends[2];
    std::thread writer;
    explicit Piped(std::string text) {
        signal(SIGPIPE, SIG_IGN);  // after the reader has stopped
        REQUIRE(pipe(ends) == 0);
        writer = std::thread([to = ends[1], text = std::move(text)] {
            for (size_t at = 0; at < text.size();) {
                const ssize_t done = write(to, text.data() + at, std::min<size_t>(text.size() - at, 777));
                if (done < 0) break;
                at += static_cast<size_t>(done);
            }
            close(to);
        });
    }
    ~Piped() { writer.join(); }
    Descriptor out() const { return Descriptor(ends[0]); }
};

std::vector<std::string> lines_of(const std::string& text, size_t longest) {
    const Piped piped(text);
    StreamLines lines(piped.out(), longest);
    std::vector<std::string> out;
    for (std::string line; *lines.next(line);) out.push_back(line);
    return out;
}

}  // namespace

TEST_CASE("only regular files are opened, and opening never blocks") {
    const TemporaryFolder folder;
    const auto fifo = folder.path / "fifo", link = folder.path / "link", socket_path = folder.path / "socket";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    std::filesystem::create_symlink("/dev/zero", link);
    sockaddr_un address{AF_UNIX, {}};
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path.c_str());
    const Descriptor server(socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(bind(server.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    for (const std::filesystem::path& path :
         {fifo, link, socket_path, folder.path, std::filesystem::path("/dev/null")}) {
        CAPTURE(path);
        struct stat info {};
        CHECK(open_regular(path, info).error().message.find("not a regular file") != std::string::npos);
        CHECK((!MappedFile::open(path) && !open_image(path)));
        CHECK((beginning_of(path, 10).empty() && !is_dossier(path)));
    }
    CHECK(
        (is_stream(fifo) && is_stream(link) && !is_stream(folder.path) && !is_stream(folder.path / "none")));
    write_bytes(folder.path / "file", "0123456789");
    CHECK((beginning_of(folder.path / "file", 4) == "0123" &&
           beginning_of(folder.path / "file", 99).size() == 10));
    std::filesystem::create_directories(folder.path / "hub/refs");
    std::filesystem::create_directories(folder.path / "hub/snapshots/abc");
    REQUIRE(mkfifo((folder.path / "hub/refs/main").c_str(), 0600) == 0);
    CHECK(hub_snapshot(folder.path / "hub", "main") == folder.path / "hub/snapshots/abc");
    std::filesystem::remove(folder.path / "hub/refs/main");
    std::filesystem::create_symlink("/dev/zero", folder.path / "hub/refs/main");
    CHECK(hub_snapshot(folder.path / "hub", "main") == folder.path / "hub/snapshots/abc");
    write_bytes(folder.path / "hub/refs/other", "abc\n");
    CHECK(hub_snapshot(folder.path / "hub", "other") == folder.path / "hub/snapshots/abc");
}

TEST_CASE("lines of a pipe arrive whole; of one that is too long enough to show it") {
    using Lines = std::vector<std::string>;
    CHECK((lines_of("", 9).empty() && lines_of("\n", 9) == Lines{""}));
    CHECK((lines_of("a\n\nb", 9) == Lines{"a", "", "b"} && lines_of("a\n\nb\n", 9) == Lines{"a", "", "b"}));
    const std::string long_line(300'000, 'x');
    CHECK(lines_of(long_line + "\nend", 1'000'000) == Lines{long_line, "end"});
    CHECK(lines_of(long_line + "\nend\n", 10) == Lines{std::string(11, 'x'), "end"});
}

TEST_CASE("reading an endless stream ends with an error") {
    const Piped piped(std::string(5'000'000, 'x')), fine("two\nlines");
    const Descriptor stream = piped.out();
    const auto read = read_stream(stream, 1'000'000, "Standard input");
    CHECK(read.error().message ==
          "Standard input does not end within 1 million bytes; give a file, or less of it.");
    for (std::string rest(1 << 16, '\0'); ::read(stream.number(), rest.data(), rest.size()) > 0;) {
    }
    CHECK(*read_stream(fine.out(), 1'000'000, "Standard input") == "two\nlines");
}

TEST_CASE("a corpus from a pipe equals that from a file, except for when errors appear") {
    const TemporaryFolder folder;
    for (const std::string& text : {std::string("\xEF\xBB\xBFone \r\n\n two\nthree"), std::string("a\nb\n"),
                                    std::string(70'000, 'w') + "\n\nend"}) {
        write_bytes(folder.path / "texts.txt", text);
        auto file = *CorpusLines::open((folder.path / "texts.txt").string(), 5);
        const Piped piped(text);
        auto lines = *CorpusLines::of(piped.out(), "-", 5);
        CHECK(lines.count() == 0);
        while (file.line()) {
            REQUIRE(lines.line());
            CHECK((lines.line()->number == file.line()->number && lines.line()->text == file.line()->text));
            REQUIRE((file.advance() && lines.advance()));
        }
        CHECK(!lines.line());
    }
    const Piped none("\n \n"), cut("\"one\"\n{\"words\": 2}\n");
    CHECK(CorpusLines::of(none.out(), "-").error().message ==
          "standard input has no text; write one per line.");
    auto lines = *CorpusLines::of(cut.out(), "-.jsonl");
    CHECK(lines.line()->text == "one");
    CHECK(lines.advance().error().message.starts_with("Line 2 of standard input"));
    const Piped endless(std::string(3 << 20, 'x'));
    CHECK(CorpusLines::of(endless.out(), "-").error().message.find("more than a million bytes") !=
          std::string::npos);
}

TEST_CASE("text that is not UTF-8 is refused with the place of its first bad byte") {
    CHECK((check_is_text("caf\xC3\xA9 \xF0\x9F\x99\x82\xEF\xBF\xBD", "It") && check_is_text("", "It")));
    const auto why = [](std::string_view bytes) { return check_is_text(bytes, "It").error().message; };
    CHECK(
        why("caf\xE9") ==
        "It is not text in UTF-8 (byte 4: 0xE9); save it as UTF-8, or convert it: iconv -f LATIN1 -t UTF-8.");
    CHECK(why("one\ntwo \xFF\n").find("(line 2, byte 5: 0xFF)") != std::string::npos);
    CHECK(why("\xC3").find("(byte 1: 0xC3)") != std::string::npos);
    CHECK(why("a\xED\xA0\x80").find("(byte 2: 0xED)") != std::string::npos);  // a surrogate
    CHECK(why(std::string_view("a\0b", 3)).find("zero byte") != std::string::npos);
    CHECK((beginning_of_text("caf\xC3\xA9", 4) == "caf" &&
           beginning_of_text("caf\xC3\xA9", 5) == "caf\xC3\xA9"));
    CHECK((beginning_of_text("\xF0\x9F\x99\x82", 3).empty() && beginning_of_text("ab", 9) == "ab"));
}
