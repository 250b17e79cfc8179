// Opens files without blocking, and reads texts from pipes.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "base/result.h"

namespace headlight {

/// Owns an open file descriptor; −1: none.
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

/// Opens a regular file for reading, and stores its stat in `info`. Refuses a pipe, device, socket or folder
/// at once, even without a writer: reading one could block for ever. Every file named by a user or found in a
/// folder is opened here.
Result<Descriptor> open_regular(const std::filesystem::path& path, struct stat& info);

/// Returns at most `max` bytes from the start of a regular file; none if there is no such file.
std::string beginning_of(const std::filesystem::path& path, size_t max);

/// Returns whether a path leads to a stream, which can be read as it arrives: a pipe, a terminal.
bool is_stream(const std::filesystem::path& path);

/// Opens standard input for "-", else a stream (is_stream). Refuses a named pipe, which may block for ever.
Result<Descriptor> open_stream(const std::string& path);

/// Reads everything, at most `max` bytes; `name` begins the error.
Result<std::string> read_stream(const Descriptor& stream, size_t max, const std::string& name);

/// Reads lines as they arrive, one in memory. Of one over `longest` bytes keeps enough to show that it is.
class StreamLines {
public:
    StreamLines(Descriptor stream, size_t longest) : stream_(std::move(stream)), longest_(longest) {}
    /// Reads the next line without its end; returns false after the last one. Fails if reading does.
    Result<bool> next(std::string& line);

private:
    Result<bool> fill();

    Descriptor stream_;
    size_t longest_, at_ = 0;
    std::string read_;  // not handed out yet, from at_ on
};

}  // namespace headlight
