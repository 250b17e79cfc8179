#include "figure/page/live_model.h"

#include <algorithm>

#include "base/memory.h"
#include "figure/page/page_data.h"
#include "hub/files.h"
#include "io/eight_bits.h"
#include "io/folder.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "model/input.h"

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

/// Reads the files, and stores large weights in eight bits.
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

/// Writes the files as a folder that Headlight opens, weights as the page computes with them.
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

Status check_live(const Model& model) {
    if (model.config.can.read_image)
        return Error{model.name +
                     " reads pictures, and a page that computes reads text; choose another model."};
    return model.tokenizer ? success() : Status(model.tokenizer.error());
}

/// Runs a text, of a translator with what it writes, as the page does.
Result<std::shared_ptr<const Trace>> run_text(const std::shared_ptr<const Model>& model,
                                              const std::string& text, ThreadPool& pool) {
    TextInput typed;
    typed.text = text;
    TRY(ModelInput input, encode_input(*model, typed));
    TRY_STATUS(check_sequences(*model, input.sequences));
    if (const int read = input.sequences[0].size(); input.tokens_in_all > size_t(read))
        return Error{"The text has " + std::to_string(input.tokens_in_all) + " tokens, and " + model->name +
                     " reads " + std::to_string(read) + "; give a shorter --text."};
    std::shared_ptr<const Trace> written;
    TRY(ForwardRequest request, with_target(model, {std::move(input.sequences), {}}, pool, written));
    return run_trace(model, std::move(request), pool);
}

/// Returns how far the patterns of two runs of the same tokens are apart at most.
float largest_difference(const Trace& a, const Trace& b) {
    float out = 0;
    for (int block = 0; block < a.config().blocks(); ++block)
        for (int head = 0; head < a.config().heads(block); ++head)
            out = std::max(out, (a.pattern(block, head) - b.pattern(block, head)).cwiseAbs().maxCoeff());
    return out;
}

/// Says how the page's weights differ from the model's, in what the reader sees.
Result<std::string> said_weights(const fs::path& folder, const LiveRun& run, ThreadPool& pool) {
    if (!run.model.rounded) return std::string("It computes with the model's own weights.");
    TRY(const auto exact, Model::open(folder));
    TRY(const auto whole, run_trace(exact, {run.trace->request.inputs, {}}, pool));
    char number[32];
    std::snprintf(number, sizeof number, "%g", said_error(largest_difference(*run.trace, *whole)));
    return "It computes with weights in 8 bits: on the first text attention is within " +
           std::string(number) + " of the model's.";
}

}  // namespace

Result<LiveRun> run_live(const fs::path& folder, const std::string& name, const std::string& text,
                         ThreadPool& pool) {
    TRY(LiveModel model, live_model(folder));
    TRY(TemporaryFolder held, TemporaryFolder::make());
    LiveRun run{std::move(model), std::move(held), nullptr};
    TRY_STATUS(write_live_model(run.model, run.folder.path()));
    TRY(const auto opened, Model::open(run.folder.path(), nullptr, nullptr, name));
    TRY_STATUS(check_live(*opened));
    TRY(run.trace, run_text(opened, text, pool));
    run.model.text = text;
    TRY(run.model.weights, said_weights(folder, run, pool));
    return run;
}

}  // namespace headlight
