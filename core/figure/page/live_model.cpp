#include "figure/page/live_model.h"

#include <algorithm>

#include "base/memory.h"
#include "hub/files.h"
#include "io/eight_bits.h"
#include "io/folder.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace headlight {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSmall = 4'000'000;     // weights that stay as they are
constexpr int64_t kLargest = 40'000'000;  // weights that fit no page even in eight bits

bool holds_weights(const LiveModel::File& file) { return file.name.ends_with(".safetensors"); }

/// Chooses among a folder's files as a download chooses among a repository's.
Result<std::vector<HubFile>> needed_files(const fs::path& folder) {
    HubListing listing;
    for (const fs::path& path : folder_entries(folder)) {
        std::error_code ignored;
        if (fs::is_regular_file(path, ignored))
            listing.files.push_back({path.filename().string(), int64_t(fs::file_size(path, ignored)), ""});
    }
    return choose_hub_files(listing, "", display_path(folder));
}

Status check_size(const std::vector<HubFile>& files, const fs::path& folder) {
    int64_t bytes = 0;
    for (const HubFile& file : files) bytes += file.name.ends_with(".safetensors") ? file.size : 0;
    if (bytes == 0)
        return Error{
            display_path(folder) +
            " holds no model.safetensors; a page computes with such a folder, 'stories' for example."};
    if (bytes <= kLargest) return success();
    return Error{display_path(folder) + " has " + short_bytes(bytes) +
                 " of weights, too many for a page; choose a smaller model, 'stories' for example."};
}

}  // namespace

Result<LiveModel> live_model(const fs::path& folder) {
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored))
        return Error{display_path(folder) +
                     " is not the folder of a model; a page computes with one, 'stories' for example."};
    TRY(const auto files, needed_files(folder));
    TRY_STATUS(check_size(files, folder));
    LiveModel out;
    for (const HubFile& file : files) {
        TRY(const auto mapped, MappedFile::open(folder / file.name));
        LiveModel::File held{file.name, std::string(mapped->text())};
        if (holds_weights(held) && file.size > kSmall) {
            TRY(held.bytes, in_eight_bits(mapped->bytes(), display_path(mapped->path())));
            out.rounded = true;
        }
        out.files.push_back(std::move(held));
    }
    return out;
}

Status write_live_model(const LiveModel& model, const fs::path& folder) {
    for (const LiveModel::File& file : model.files) {
        if (!holds_weights(file)) {
            TRY_STATUS(write_file(folder / file.name, file.bytes));
            continue;
        }
        TRY(const std::string weights, from_eight_bits(file.bytes, file.name));
        TRY_STATUS(write_file(folder / file.name, weights));
    }
    return success();
}

}  // namespace headlight
