// The desktop's file dialog as an external program (zenity, kdialog), on its own thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace headlight {

/// The installed dialog program; empty if there is none: then you type a path.
std::string dialog_program();

enum class DialogFor { saving, opening };

/// Its arguments to ask for a file to save or open; `proposed`: absolute; to open also a folder ending in /.
std::vector<std::string> dialog_arguments(const std::string& program, const std::string& title,
                                          const std::filesystem::path& proposed,
                                          DialogFor what = DialogFor::saving);

class FileDialog {
public:
    ~FileDialog() { close(); }

    /// Opens the dialog unless one is open; `wake` is called on its thread when poll() has a result.
    void ask(const std::string& title, const std::filesystem::path& proposed, std::function<void()> wake,
             DialogFor what = DialogFor::saving);
    bool open() const { return chosen_.valid(); }
    /// The chosen path ("": none), or why the dialog failed; once.
    std::optional<Result<std::string>> poll();
    void close();

private:
    Result<std::string> run(const std::vector<std::string>& arguments);

    std::future<Result<std::string>> chosen_;
    std::mutex mutex_;
    pid_t child_ = 0;  // while it runs
    bool closing_ = false;
};

}  // namespace headlight
