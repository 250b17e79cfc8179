#include "session/recovery.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "io/folder.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWorkspace = ".headlight.json";
constexpr size_t kMaxLeft = 10;

fs::path lock_of(fs::path workspace) {
    const std::string name = workspace.filename().string();
    return workspace.replace_filename(name.substr(0, name.size() - std::string_view(kWorkspace).size()) +
                                      ".lock");
}

void remove_place(const fs::path& workspace) {
    std::error_code ignored;
    fs::remove(workspace, ignored);
    fs::remove(lock_of(workspace), ignored);
}

struct FoundPlace {
    fs::path workspace;
    fs::file_time_type time;
    FileLock lock;
};

/// Orphaned slots, newest first; removes those without a workspace and all but the newest ones.
std::vector<FoundPlace> abandoned(const fs::path& folder) {
    std::vector<FoundPlace> out;
    std::error_code ignored;
    for (const fs::path& file : folder_entries(folder)) {
        if (file.extension() != ".lock" || file.stem().empty() || file.filename() == ".lock") continue;
        auto lock = FileLock::take(file, 0);
        if (!lock || !lock->held()) continue;  // without working locks a live window's slot looks orphaned
        const fs::path workspace = file.parent_path() / (file.stem().string() + kWorkspace);
        if (fs::exists(workspace, ignored))
            out.push_back({workspace, fs::last_write_time(workspace, ignored), *std::move(lock)});
        else
            remove_place(workspace);
    }
    std::sort(out.begin(), out.end(),
              [](const FoundPlace& a, const FoundPlace& b) { return a.time > b.time; });
    for (; out.size() > kMaxLeft; out.pop_back()) remove_place(out.back().workspace);
    return out;
}

}  // namespace

Recovery::Recovery(const fs::path& folder) {
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    const auto all = FileLock::take(folder / ".lock", 1);
    if (!all) return;
    if (auto found = abandoned(folder); !found.empty()) {
        struct stat info {};
        left_ = Left{found[0].workspace, fstat(found[0].lock.descriptor(), &info) == 0 && info.st_size > 0};
        left_lock_ = std::move(found[0].lock);
    }
    fs::path own;
    for (int i = 0; own.empty() || fs::exists(lock_of(own), ignored); ++i)
        own = folder / ("window-" + std::to_string(getpid()) + "-" + std::to_string(i) + kWorkspace);
    if (auto lock = FileLock::take(lock_of(own), 0)) {
        lock_ = *std::move(lock);
        own_ = own;
    }
}

void Recovery::mark_shown() {
    // Marks the recovered workspace too: it did not crash this window.
    for (const auto* lock : {&lock_, &left_lock_})
        if (*lock) [[maybe_unused]]
            const auto written = pwrite((*lock)->descriptor(), "shown\n", 6, 0);
}

void Recovery::drop_left() {
    if (left_) remove_place(left_->workspace);
    left_.reset();
    left_lock_.reset();
}

void Recovery::end() {
    if (!own_.empty()) remove_place(own_);
    lock_.reset();
    own_.clear();
}

bool Recovery::others_open() const {
    const auto all = FileLock::take(own_.parent_path() / ".lock", 1);
    for (const fs::path& file : folder_entries(own_.parent_path())) {
        const bool ours = file == lock_of(own_) || (left_ && file == lock_of(left_->workspace));
        if (file.extension() != ".lock" || file.filename() == ".lock" || ours) continue;
        const auto lock = FileLock::take(file, 0);
        if (!lock || !lock->held()) return true;
    }
    return false;
}

void Recovery::end_for_logout() {
    if (own_.empty() || !others_open()) return end();
    mark_shown();
    lock_.reset();
    own_.clear();
}

}  // namespace headlight
