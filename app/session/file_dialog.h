// The desktop's own dialog for files, as a program that it brings (zenity, kdialog), on a thread of its own.
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

/// The dialog's program that is installed here; empty where there is none: then a path is typed.
std::string dialog_program();

enum class DialogFor { saving, opening };

/// What it is started with to ask where to save, or which file to open; `proposed` is a full path, or, to
/// open, a folder with a / at its end.
std::vector<std::string> dialog_arguments(const std::string& program, const std::string& title,
                                          const std::filesystem::path& proposed,
                                          DialogFor what = DialogFor::saving);

class FileDialog {
public:
    ~FileDialog() { close(); }

    /// Opens the dialog unless one is open; `wake` is called on its thread when poll() has something to say.
    void ask(const std::string& title, const std::filesystem::path& proposed, std::function<void()> wake,
             DialogFor what = DialogFor::saving);
    bool open() const { return chosen_.valid(); }
    /// The path that was chosen ("": none), or why the dialog could not be shown; once.
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
