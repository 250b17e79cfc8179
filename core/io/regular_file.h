// Files that are opened without waiting, and texts that come from a pipe.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/result.h"

namespace headlight {

/// An open file, closed with this; −1: none.
class Descriptor {
public:
    explicit Descriptor(int opened = -1) : number_(opened) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept;

    int number() const { return number_; }

private:
    int number_;
};

/// Opens a regular file to read it, and says what it is in `info`. A pipe, a device, a socket or a folder is
/// refused at once, though nobody writes into it: in the place of a file they would be waited for, or read,
/// for ever. Whoever reads a file that a person or a folder names opens it here.
Result<Descriptor> open_regular(const std::filesystem::path& path, struct stat& info);

/// At most so many bytes from the beginning of a regular file; none where there is no such file.
std::string beginning_of(const std::filesystem::path& path, size_t max);

/// Whether a path leads to what has no end of its own, but can be read as it comes: a pipe, a terminal.
bool is_stream(const std::filesystem::path& path);

/// Standard input for "-", else what is_stream() says can be read so. A named pipe is refused: opening it
/// waits until somebody writes into it, perhaps for ever.
Result<Descriptor> open_stream(const std::string& path);

/// All that comes, of at most `max` bytes; `name` begins the sentence that says why not.
Result<std::string> read_stream(const Descriptor& stream, size_t max, const std::string& name);

/// Lines as they come, one in memory. Of a longer one than `longest` bytes as much as shows that it is longer
/// is kept.
class StreamLines {
public:
    StreamLines(Descriptor stream, size_t longest) : stream_(std::move(stream)), longest_(longest) {}
    /// The next line without its end; false behind the last one. Fails where reading does.
    Result<bool> next(std::string& line);

private:
    Result<bool> fill();

    Descriptor stream_;
    size_t longest_, at_ = 0;
    std::string read_;  // from at_ on not handed out yet
};

}  // namespace headlight
