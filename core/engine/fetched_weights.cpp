// Fetches the files of a server's weights, and runs what needs them.
#include "engine/fetched_weights.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/cast.h"
#include "base/memory.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr const char* kFiles = "The server's list of files";
constexpr size_t kMaxFiles = 64, kKeptRuns = 3;
constexpr int64_t kLargestFile = int64_t{1} << 31;

/// Returns whether a name is that of a file in a folder, and of nothing outside it.
bool is_file_name(const std::string& name) {
    constexpr std::string_view kOther = "._-";
    const auto plain = [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               contains(kOther, c);
    };
    return !name.empty() && name.size() <= 128 && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), plain);
}

}  // namespace

std::string FetchedWeights::fetching() const {
    const int64_t all = coming_;
    return all == 0 ? "" : "Fetching the weights: " + short_bytes(come_) + " of " + short_bytes(all) + "…";
}

Result<FetchedWeights::Lock> FetchedWeights::locked(const CancelFlag* cancel) {
    Lock lock(mutex_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(10)))
        if (stopped(cancel)) return cancelled();
    return lock;
}

/// Asks for the names of the files, which the server writes.
Status FetchedWeights::begin(const CancelFlag* cancel) {
    TRY(const Frame answer, connection_->ask({{"verb", "weights"}}, cancel));
    TRY(TemporaryFolder folder, TemporaryFolder::make());
    Download out{std::move(folder), version_, {}};
    TRY(const Json files, json_list(answer.header, "files", kFiles));
    int64_t all = 0;
    for (const Json& file : files) {
        if (!file.is_object() || out.files.size() >= kMaxFiles)
            return of_other_version(std::string(kFiles) + " is of another form");
        File& one = out.files.emplace_back();
        TRY(one.name, json_string(file, "name", "", kFiles));
        TRY(one.bytes, json_integer(file, "bytes", 0, 0, kLargestFile, kFiles));
        if (!is_file_name(one.name)) return of_other_version(std::string(kFiles) + " names no file");
        all += one.bytes;
    }
    if (all > 2 * offered_.bytes + (int64_t{1} << 26))  // files of the tokenizer come too
        return Error{"The server's weights are larger than it said; start it again."};
    download_.emplace(std::move(out));
    return success();
}

/// Fetches the rest of a file.
Status FetchedWeights::fetch(File& file, const CancelFlag* cancel) {
    const auto path = download_->folder.path() / file.name;
    std::ofstream out(path, std::ios::binary | std::ios::app);
    while (out && file.here < file.bytes) {
        TRY(const Frame answer,
            connection_->ask({{"verb", "weights"}, {"file", file.name}, {"from", file.here}}, cancel));
        const StoredTensor* part = answer.find("bytes");
        if (!part || part->dtype->bytes != 1 || part->bytes.empty() ||
            std::ssize(part->bytes) > file.bytes - file.here)
            return of_other_version("The server sends a part of " + in_quotes(file.name) +
                                    " that does not fit");
        out.write(reinterpret_cast<const char*>(part->bytes.data()), std::ssize(part->bytes));
        out.flush();
        if (!out) break;
        file.here += std::ssize(part->bytes);
        come_ += std::ssize(part->bytes);
    }
    if (!out) {
        download_.reset();
        return Error{"The weights cannot be written (" + std::string(std::strerror(errno)) +
                     "); free room in the folder for temporary files, or name another in TMPDIR."};
    }
    return success();
}

/// Fetches all files, or what an earlier question left.
Status FetchedWeights::download(const CancelFlag* cancel) {
    if (!download_) TRY_STATUS(begin(cancel));
    int64_t all = 0, here = 0;
    for (const File& file : download_->files) all += file.bytes, here += file.here;
    come_ = here;
    coming_ = all;
    Status done = success();
    for (size_t i = 0; done && i < download_->files.size(); ++i) done = fetch(download_->files[i], cancel);
    coming_ = 0;
    return done;
}

/// Returns the model of the newest pass; it needs its files no longer, which are mapped.
Result<std::shared_ptr<const Model>> FetchedWeights::open(const CancelFlag* cancel) {
    if (!offered_.withheld.empty()) return Error{offered_.withheld};
    const int64_t pass = version_;
    if (model_ && opened_ == pass) return model_;
    if (!failure_.empty() && opened_ == pass) return Error{failure_};
    failure_.clear();
    if (download_ && download_->pass != pass) download_.reset();
    TRY_STATUS(download(cancel));
    model_ = nullptr;
    runs_.clear();
    auto opened = Model::open(download_->folder.path(), cancel, nullptr, name_);
    if (!opened && opened.error().cancelled) return opened.error();
    download_.reset();
    opened_ = pass;
    if (!opened)
        failure_ = "The weights that the server sends cannot be read (" + opened.error().message + ")";
    else if (!are_alike((*opened)->config, offered_.read))
        failure_ = "The server sends weights of another model than it describes; start it again.";
    else
        model_ = *std::move(opened);
    if (!model_) return Error{failure_};
    return model_;
}

Result<std::shared_ptr<const Model>> FetchedWeights::model(const CancelFlag* cancel) {
    TRY(const Lock lock, locked(cancel));
    return open(cancel);
}

Result<std::shared_ptr<const Trace>> FetchedWeights::run(const Trace& trace, const Engine::RunHere& run,
                                                         const CancelFlag* cancel) {
    TRY(const Lock lock, locked(cancel));
    TRY(const auto model, open(cancel));
    for (const Run& held : runs_)
        if (held.request.inputs == trace.request.inputs &&
            held.request.intervention == trace.request.intervention)
            return held.trace;
    TRY(auto found, run(model, runs_.empty() ? nullptr : runs_[0].trace.get()));
    runs_.insert(runs_.begin(), {trace.request, found});
    runs_.resize(std::min(runs_.size(), kKeptRuns));
    return found;
}

}  // namespace headlight
