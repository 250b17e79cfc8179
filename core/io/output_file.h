// Writes output that appears whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace headlight {

/// Returns whether a path means standard output: "-", or "-.png" to name the format.
bool is_standard_stream(const std::filesystem::path& path);

/// Appends the ending of a format where needed: "-.png", "figure.png"; of a pipe or a device too,
/// "/dev/full.png", which writes to /dev/full.
std::string with_format(const std::string& path, const std::string& format);

/// Writes beside the target and renames on commit(); without a commit the target stays unchanged. SIGINT,
/// SIGTERM, SIGHUP and SIGPIPE remove the temporary file, unless the program handles them itself; the next
/// save to the same target removes what a killed program left. Writes pipes and devices (and "-" or "-.png",
/// standard output) directly, never replacing them.
class OutputFile {
public:
    static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& named);
    ~OutputFile();

    void write(const void* data, size_t size);
    void write(std::string_view text) { write(text.data(), text.size()); }

    /// Finishes the file; its error says what the system refused, a full disk for example.
    Status commit();

private:
    OutputFile(std::filesystem::path target, std::filesystem::path temporary, std::FILE* file, int lock = -1);

    std::filesystem::path target_, temporary_;  // temporary_ is empty for pipes and devices
    std::FILE* file_;
    int lock_;        // holds the lock on the temporary file until the rename
    int failed_ = 0;  // errno of the first write that failed
};

/// Removes the temporary files in progress: for a program about to end by a signal. Async-signal-safe.
void remove_temporaries();

/// During its lifetime, commit() first checks that all input files are intact (check_mapped_files), and
/// otherwise leaves the target unchanged: for commands that write results computed from them. Later changes
/// to the inputs do not matter.
class WholeFilesOnly {
public:
    WholeFilesOnly();
    ~WholeFilesOnly();
    WholeFilesOnly(const WholeFilesOnly&) = delete;
    WholeFilesOnly& operator=(const WholeFilesOnly&) = delete;
};

/// Writes a whole file of text, or none.
Status write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace headlight
