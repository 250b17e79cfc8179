// Output that appears whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// Whether a path means standard output: "-", or "-.png" where the ending says what is written.
bool is_standard_stream(const std::filesystem::path& path);

/// The path with the ending of a format where that says what is written: "-.png", "figure.png"; of a pipe or
/// a device too, "/dev/full.png", which goes to /dev/full.
std::string with_format(const std::string& path, const std::string& format);

/// Writes beside the target and renames on commit(); without a commit the target stays as it was. SIGINT,
/// SIGTERM, SIGHUP and SIGPIPE remove what is half written, unless the program handles them itself; what a
/// killed program left is removed at the next save to the same target. Pipes and devices (and "-" or "-.png",
/// standard output) are written directly, never replaced.
class OutputFile {
public:
    static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& named);
    ~OutputFile();

    void write(const void* data, size_t size);
    void write(std::string_view text) { write(text.data(), text.size()); }

    /// Finishes the file; the sentence says what the system refused, a full disk for example.
    Status commit();

private:
    OutputFile(std::filesystem::path target, std::filesystem::path temporary, std::FILE* file, int lock = -1);

    std::filesystem::path target_, temporary_;  // temporary_ is empty for pipes and devices
    std::FILE* file_;
    int lock_;        // the descriptor that locks the temporary file until it has its name
    int failed_ = 0;  // errno of the first write that failed
};

/// Removes the temporary files that are being written: for a program that is about to end by a signal.
/// Async-signal-safe.
void remove_temporaries();

/// As long as this lives a commit() first asks whether the files that were read are whole
/// (check_mapped_files), and leaves the target as it was where one is not: for a verb that writes what it
/// made of them. What happens to them afterwards is nothing to what was written.
class WholeFilesOnly {
public:
    WholeFilesOnly();
    ~WholeFilesOnly();
    WholeFilesOnly(const WholeFilesOnly&) = delete;
    WholeFilesOnly& operator=(const WholeFilesOnly&) = delete;
};

/// A whole file of text, or none.
Status write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace headlight
