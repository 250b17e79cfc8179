// Downloads one file of a repository.
#include "hub/blob.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/digest.h"
#include "base/quoted.h"
#include "io/mapped_file.h"
#include "io/regular_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxTries = 5;  // of an interrupted connection, with less than this between them
constexpr int64_t kProgress = 64 << 10;

Error cannot_keep(const fs::path& path, int code) {
    return Error{display_path(path) + " cannot be written (" + std::strerror(code) +
                 "): free some space or set HF_HUB_CACHE to another folder; the downloaded part is "
                 "kept, and fetching again resumes after it."};
}

/// Sleeps for `length`, or until cancelled.
Status rest_for(std::chrono::milliseconds length, const CancelFlag* cancel) {
    constexpr std::chrono::milliseconds kLook{20};
    for (auto slept = kLook; slept <= length; slept += kLook) {
        if (stopped(cancel)) return cancelled();
        std::this_thread::sleep_for(kLook);
    }
    return success();
}

int64_t size_of(const Descriptor& file) {
    struct stat info {};
    return fstat(file.number(), &info) == 0 ? info.st_size : 0;
}

/// Writes all bytes at their offset, or returns errno.
int write_at(int file, int64_t at, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = pwrite(file, bytes.data(), bytes.size(), at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return errno ? errno : EIO;
        bytes.remove_prefix(static_cast<size_t>(written));
        at += written;
    }
    return 0;
}

/// Waits until no other program (huggingface_hub locks the same file) downloads the same blob.
Status lock_blob(const HubTransfer& t, const Descriptor& lock) {
    bool said = false;
    while (flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return success();  // a file system without locks
        if (!said) t.progress.begin("waiting for another program that fetches the same file");
        said = true;
        TRY_STATUS(rest_for(std::chrono::milliseconds(100), t.cancel));
    }
    return success();
}

/// Hashes the file on disk: SHA-256 if the expected hash has 64 digits, else git's blob hash.
Result<std::string> hash_of(const fs::path& path, const HubFile& file, const CancelFlag* cancel) {
    constexpr size_t kPiece = 1 << 20;
    TRY(const auto mapped, MappedFile::open(path));
    const std::string_view text = mapped->text();
    const bool large = file.hash.size() == 64;
    Digest digest(large ? DigestKind::sha256 : DigestKind::sha1);
    if (!large) digest.add("blob " + std::to_string(text.size()) + std::string(1, '\0'));
    for (size_t i = 0; i < text.size(); i += kPiece) {
        if (stopped(cancel)) return cancelled();
        digest.add(text.substr(i, kPiece));
    }
    TRY_STATUS(mapped->check_unchanged());
    return digest.finish();
}

std::string url_of(const HubTransfer& t, const HubFile& file) {
    std::string out = t.place.endpoint + "/" + t.repository + "/resolve/" + t.commit + "/";
    for (size_t begin = 0; begin <= file.name.size();) {
        const size_t end = std::min(file.name.find('/', begin), file.name.size());
        out += (begin ? "/" : "") + url_part(std::string_view(file.name).substr(begin, end - begin));
        begin = end + 1;
    }
    return out;
}

Error is_shorter(const HubTransfer& t, const HubFile& file, int64_t have) {
    return Error{shortened(file.name) + " of " + t.repository + " ends at " + t.place.endpoint +
                 " with byte " + std::to_string(have) + " of the " + std::to_string(file.size) +
                 " that are listed there; fetch it later, or set HF_ENDPOINT to another mirror."};
}

/// Receives the missing rest of a part. Resumes an interrupted connection after the bytes received.
Status receive(HubTransfer& t, const HubFile& file, const Descriptor& part, const fs::path& path) {
    const std::string url = url_of(t, file);
    const int64_t begun = t.progress.done;
    for (int tries = 0; tries < kMaxTries;) {
        const int64_t have = size_of(part);
        t.progress.done = begun + have;
        if (have == file.size) return success();
        int refused = 0;
        const HttpRequest request{url, t.place.token, false, have, file.size, t.cancel};
        TRY(const HttpAnswer answer, t.client.get(request, [&](int64_t at, std::string_view bytes) -> Status {
            if (at == 0 && have > 0 && ftruncate(part.number(), 0) != 0) refused = errno;
            if (!refused) refused = write_at(part.number(), at, bytes);
            if (refused) return cannot_keep(path, refused);
            t.received += static_cast<int64_t>(bytes.size());
            t.progress.done = begun + at + static_cast<int64_t>(bytes.size());
            t.progress.changed();
            return success();
        }));
        if (answer.cut.empty() && answer.status == 416) return is_shorter(t, file, have);
        if (answer.cut.empty() && !answer.ok())
            return hub_refusal(answer, t.place.endpoint, file.name, t.repository);
        const int64_t more = size_of(part) - have;
        tries = more >= kProgress ? 1 : tries + 1;
        if (size_of(part) == file.size) continue;
        if (tries == kMaxTries)
            return Error{"The connection to the hub was cut while " + shortened(file.name) + " came (" +
                         (answer.cut.empty() ? "it ended early" : answer.cut) +
                         "); the downloaded part is kept: fetch " + t.repository + " again to resume."};
        TRY_STATUS(rest_for(std::chrono::milliseconds(100 << tries), t.cancel));
    }
    return success();
}

/// Renames a complete part to the blob's name if its hash is right; removes it otherwise.
Status finish(HubTransfer& t, const HubFile& file, const fs::path& path, bool& wrong) {
    wrong = false;
    t.progress.begin("checking " + file.name);
    TRY(const std::string hash, hash_of(path, file, t.cancel));
    wrong = hash != file.hash;
    std::error_code problem;
    if (wrong) {
        fs::remove(path, problem);
        return Error{
            shortened(file.name) + " of " + t.repository + " came with another " +
            (file.hash.size() == 64 ? "SHA-256" : "git hash") +
            " than the hub names, so it was removed; fetch it again, and if that happens again do not use "
            "the mirror or proxy that it came through."};
    }
    fs::rename(path, t.blob(file), problem);
    if (problem) return cannot_keep(t.blob(file), problem.value());
    return success();
}

/// Downloads the blob, unless it exists.
Status fetch_blob(HubTransfer& t, const HubFile& file) {
    const fs::path blob = t.blob(file), path = blob.string() + ".incomplete";
    std::error_code ignored;
    bool wrong = true, resumed = true;
    for (int attempt = 0; wrong && resumed && attempt < 2; ++attempt) {
        const int64_t begun = t.progress.done;
        Descriptor part(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (part.number() < 0) return cannot_keep(path, errno);
        if (size_of(part) > file.size && ftruncate(part.number(), 0) != 0) return cannot_keep(path, errno);
        resumed = size_of(part) > 0;  // from an earlier try; a wrong one is downloaded again whole
        t.progress.begin(file.name);
        TRY_STATUS(receive(t, file, part, path));
        if (fsync(part.number()) != 0 && errno != EINVAL && errno != ENOTSUP) return cannot_keep(path, errno);
        const Status finished = finish(t, file, path, wrong);
        if (!finished && !(wrong && resumed && attempt == 0)) return finished;
        if (wrong) t.progress.done = begun;
    }
    return success();
}

/// Links the snapshot to the blob, "../../blobs/HASH"; copies it if the file system has no links.
Status link_blob(const HubTransfer& t, const HubFile& file) {
    const fs::path link = t.link(file), blob = t.blob(file);
    std::error_code problem;
    fs::create_directories(link.parent_path(), problem);
    if (problem) return cannot_keep(link, problem.value());
    const fs::path target = blob.lexically_relative(link.parent_path());
    if (fs::read_symlink(link, problem) == target) return success();
    fs::remove(link, problem);
    fs::create_symlink(target, link, problem);
    if (problem && (problem == std::errc::operation_not_permitted || problem == std::errc::not_supported))
        fs::copy_file(blob, link, fs::copy_options::overwrite_existing, problem);
    if (problem) return cannot_keep(link, problem.value());
    return success();
}

}  // namespace

Error hub_refusal(const HttpAnswer& answer, const std::string& endpoint, const std::string& what,
                  const std::string& repository) {
    const std::string code = answer.header("x-error-code");
    const std::string at = shortened(what) + (what == repository ? "" : " of " + repository);
    if (code == "GatedRepo" || answer.status == 403)
        return Error{repository + " is gated: accept its terms at " + endpoint + "/" + repository +
                     ", and set HF_TOKEN to your token."};
    if (answer.status == 401)
        return Error{
            "The hub does not give " + at +
            " without a token that may read it, or has no model of that name; check the name, and set "
            "HF_TOKEN where it is private."};
    if (answer.status == 404)
        return Error{"The hub has no " + at + (code == "RevisionNotFound" ? " at this revision" : "") +
                     "; check the name and the revision on its page."};
    if (answer.status == 429)
        return Error{"The hub asks for fewer requests; wait some minutes and fetch again."};
    return Error{"The hub answers " + std::to_string(answer.status) + " for " + at +
                 "; check HF_ENDPOINT, or try again later."};
}

Result<HubFile> request_file_info(HubTransfer& t, const HubFile& file) {
    constexpr int64_t kLargestFile = int64_t{1} << 40;
    std::string ignored;
    TRY(const HttpAnswer answer,
        t.client.get_text({url_of(t, file), t.place.token, true, 0, 0, t.cancel}, ignored));
    if (!answer.cut.empty() || answer.status >= 400)
        return hub_refusal(answer, t.place.endpoint, file.name, t.repository);
    HubFile out = file;
    out.hash = answer.header(answer.headers.count("x-linked-etag") ? "x-linked-etag" : "etag");
    if (out.hash.starts_with("W/")) out.hash.erase(0, 2);
    std::erase(out.hash, '"');
    const std::string size =
        answer.header(answer.headers.count("x-linked-size") ? "x-linked-size" : "content-length");
    const bool number =
        !size.empty() && size.size() < 16 && size.find_first_not_of("0123456789") == std::string::npos;
    out.size = number ? std::stoll(size) : -1;
    if (!is_hub_hash(out.hash) || out.size < 0 || out.size > kLargestFile)
        return Error{"The hub says neither how large " + shortened(file.name) +
                     " is nor what its hash is, so it could not be checked; check HF_ENDPOINT."};
    return out;
}

Status fetch_file(HubTransfer& t, const HubFile& file) {
    if (stopped(t.cancel)) return cancelled();
    const fs::path blob = t.blob(file),
                   lock_path = t.cache / ".locks" / t.folder().filename() / (file.hash + ".lock");
    std::error_code problem;
    for (const fs::path& folder : {blob.parent_path(), lock_path.parent_path()}) {
        fs::create_directories(folder, problem);
        if (problem) return cannot_keep(folder, problem.value());
    }
    const Descriptor lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (lock.number() < 0) return cannot_keep(lock_path, errno);
    TRY_STATUS(lock_blob(t, lock));
    const int64_t begun = t.progress.done;
    const bool there =
        fs::is_regular_file(blob, problem) && static_cast<int64_t>(fs::file_size(blob, problem)) == file.size;
    if (!there) TRY_STATUS(fetch_blob(t, file));
    t.progress.done = begun + file.size;
    return link_blob(t, file);
}

}  // namespace headlight
