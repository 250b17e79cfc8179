// Reads a training run.
#include "learn/stations/formation_run.h"

#include <algorithm>
#include <mutex>

#include "hub/library.h"
#include "io/json.h"
#include "io/mapped_file.h"

namespace headlight::learn {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxSteps = 1'000'000'000;

Result<std::vector<float>> scores_of(const Json& row, const char* key, int heads, const std::string& file) {
    TRY(const Json list, json_list(row, key, file));
    std::vector<float> out;
    for (const Json& value : list)
        if (value.is_number()) out.push_back(value.get<float>());
    if (isize(out) == heads && list.size() == out.size()) return out;
    return Error{file + ": \"" + key + "\" must hold a number for each of the " + std::to_string(heads) +
                 " heads; write the file again with train.py."};
}

Result<FormationRun::Measured> measured(const Json& row, int heads, const std::string& file) {
    FormationRun::Measured out;
    TRY(const int64_t step, json_integer(row, "step", -1, 0, kMaxSteps, file));
    TRY(const double loss, json_number(row, "loss", 0, file));
    TRY(const double once, json_number(row, "once", 0, file));
    TRY(const double again, json_number(row, "again", 0, file));
    out.step = narrow<int>(step);
    out.loss = float(loss);
    out.once = float(once);
    out.again = float(again);
    TRY(out.previous, scores_of(row, "previous", heads, file));
    TRY(out.induction, scores_of(row, "induction", heads, file));
    return out;
}

/// Reads the steps with checkpoints, ascending.
Result<std::vector<int>> kept_steps(const Json& root, const std::string& file) {
    TRY(const Json list, json_list(root, "kept", file));
    std::vector<int> out;
    for (const Json& value : list) {
        TRY(const int64_t step,
            whole_number(value, "kept", out.empty() ? 0 : out.back() + 1, kMaxSteps, file));
        out.push_back(narrow<int>(step));
    }
    if (!out.empty()) return out;
    return Error{file + ": \"kept\" names no step; write the file again with train.py."};
}

std::vector<float> over_steps(const FormationRun& run, std::vector<float> FormationRun::Measured::*score,
                              int head) {
    std::vector<float> out;
    for (const auto& at : run.curve) out.push_back((at.*score)[head]);
    return out;
}

}  // namespace

AttentionHead FormationRun::strongest(std::vector<float> Measured::*score) const {
    const std::vector<float>& last = curve.back().*score;
    return models.back()->config.head_at(
        narrow<int>(std::max_element(last.begin(), last.end()) - last.begin()));
}

int FormationRun::appearance() const {
    const int head = models.back()->config.head_index(strongest(&Measured::induction));
    return curve[half_way(over_steps(*this, &Measured::induction, head))].step;
}

int half_way(std::span<const float> scores) {
    if (scores.empty()) return 0;
    const float half = (scores.front() + *std::max_element(scores.begin(), scores.end())) / 2;
    return narrow<int>(std::find_if(scores.begin(), scores.end(), [&](float s) { return s >= half; }) -
                       scores.begin());
}

Result<std::shared_ptr<const FormationRun>> open_formation_run(const fs::path& folder) {
    const std::string file = display_path(folder / "run.json");
    TRY(const Json root, read_json(folder / "run.json"));
    auto run = std::make_shared<FormationRun>();
    TRY(run->steps, kept_steps(root, file));
    for (const int step : run->steps) {
        const bool last = step == run->steps.back();
        TRY(auto model, Model::open(last ? folder : folder / ("checkpoint-" + std::to_string(step))));
        run->models.push_back(std::move(model));
    }
    TRY(const Json curve, json_list(root, "curve", file));
    for (const Json& row : curve) {
        TRY(auto at, measured(row, run->models.back()->config.head_count(), file));
        run->curve.push_back(std::move(at));
    }
    if (run->curve.empty())
        return Error{file + ": \"curve\" holds no measurement; write the file again with train.py."};
    return std::shared_ptr<const FormationRun>(std::move(run));
}

Result<std::shared_ptr<const FormationRun>> formation_run() {
    static std::mutex mutex;
    static std::shared_ptr<const FormationRun> kept;
    const std::lock_guard lock(mutex);
    if (!kept) {
        TRY(const fs::path folder, find_model("formation"));
        TRY(kept, open_formation_run(folder));
    }
    return kept;
}

}  // namespace headlight::learn
