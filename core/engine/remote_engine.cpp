// Asks a server for passes, and keeps what its next answers may leave out.
#include "engine/remote_engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/cast.h"
#include "base/quoted.h"
#include "engine/connection.h"
#include "engine/fetched_weights.h"
#include "engine/remote_texts.h"
#include "engine/remote_trace.h"
#include "model/engine.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

constexpr const char* kAnswer = "The server's answer";
constexpr size_t kRemembered = 4;  // passes whose rows the next one may use

Error uneven() { return Error{"The server's answer has another shape than asked for; start it again."}; }

/// Returns 1 at [query, key] where a mask from a file lets a query see a key.
SentTensor mask_rows(const Mask& mask, int n) {
    SentTensor out{"mask", "U8", {n, n}, {}};
    for (int query = 0; query < n; ++query)
        for (int key = 0; key < n; ++key) out.bytes += mask.allowed({query, key, {}, {}}) ? '\1' : '\0';
    return out;
}

SentTensor float_rows(std::string name, const Matrix& rows) {
    return {std::move(name),
            "F32",
            {rows.rows(), rows.cols()},
            {reinterpret_cast<const char*>(rows.data()), size_t(rows.size()) * sizeof(float)}};
}

/// Spells a change; a pattern that no text gives is sent beside it.
std::string spelled(const ModelConfig& c, Change change) {
    if (change.kind == ChangeKind::freeze && change.from.empty()) change.from = "rows";
    return change_name(c, change);
}

class RemoteEngine : public Engine {
public:
    RemoteEngine(std::shared_ptr<Connection> connection, EngineDescription described, std::string runs_on)
        : connection_(std::move(connection)),
          texts_(connection_),
          weights_(connection_, std::move(described.weights), described.model->name),
          rules_(std::move(described.rules)),
          reuses_(described.reuses),
          logits_(described.model->config.vocab),
          runs_on_(std::move(runs_on)) {}

    std::string runs_on() const override { return runs_on_; }
    bool keeps_rows() const override { return reuses_; }
    bool is_there() const override { return connection_->ended().empty(); }

    Result<Matrix> logits(ConstMatrixRef rows, const CancelFlag* cancel) override {
        if (std::lock_guard lock(mutex_); last_row_.rows() == rows.rows() && last_row_ == rows)
            return last_logits_;
        TRY(const Frame answer, ask_lens(rows, {{"all", true}}, cancel));
        TRY(Matrix out, frame_matrix(answer, "logits", rows.rows(), logits_));
        if (rows.rows() == 1) {
            std::lock_guard lock(mutex_);
            last_row_ = rows;
            last_logits_ = out;
        }
        return out;
    }

    Result<std::vector<std::pair<int, float>>> most_probable(ConstMatrixRef rows,
                                                             const CancelFlag* cancel) override {
        TRY(const Frame answer, ask_lens(rows, {{"top", 1}}, cancel));
        TRY(const Matrix log_p, frame_matrix(answer, "top_log_p", rows.rows(), 1));
        const StoredTensor* ids = answer.find("top_ids");
        std::vector<std::pair<int, float>> out;
        if (!ids || std::string_view(ids->dtype->name) != "I64" || element_count(ids->shape) != rows.rows())
            return uneven();
        for (Index i = 0; i < rows.rows(); ++i) {
            int64_t id = 0;
            std::memcpy(&id, ids->bytes.data() + i * Index{sizeof id}, sizeof id);
            if (id < 0 || id >= logits_) return uneven();
            out.emplace_back(narrow<int>(id), std::exp(std::min(log_p(i, 0), 0.0f)));
        }
        return out;
    }

    Result<Encoding> encode(const std::string& text, const std::string& pair, bool special) override {
        Json asked{{"verb", "encode"}, {"text", text}, {"special", special}};
        if (!pair.empty()) asked["pair"] = pair;
        return texts_.encode(std::move(asked));
    }

    Result<Encoding> encode_target(const std::string& text) override {
        return texts_.encode({{"verb", "encode"}, {"target", text}});
    }

    Result<PictureEncoding> encode_picture(const std::string& text,
                                           const std::shared_ptr<const RgbImage>& image,
                                           bool special) override {
        return texts_.encode_picture(text, image, special);
    }

    Result<std::shared_ptr<const Trace>> run(const std::shared_ptr<const Model>& model,
                                             ForwardRequest request, const Trace* past,
                                             const CancelFlag* cancel) override {
        reads_image_ = request.inputs[0].picture != nullptr;
        std::vector<EngineRule> rules = rules_;
        const std::shared_ptr<const Trace> held = known(model, request, past);
        const int have = held ? common(held->output().ids, request.inputs.back().ids) : 0;
        TRY(Frame answer, ask(model->config, request, asked_tensors(model->config, rules), have, cancel));
        TRY(auto answered, answered_rules(answer.header, model->config));
        if (is_otherwise(rules, answered)) {  // something acts on these scores that q and k do not show
            for (size_t b = 0; b < rules.size(); ++b) rules[b].says = rules[b].says && answered[b].says;
            TRY(answer, ask(model->config, request, asked_tensors(model->config, rules), 0, cancel));
            TRY(answered, answered_rules(answer.header, model->config));
        }
        for (size_t b = 0; b < rules.size(); ++b) answered[b].says = rules[b].says;
        TRY(const int64_t from, json_integer(answer.header, "from", 0, 0, have, kAnswer));
        TRY_STATUS(note_version(answer.header));
        TRY(auto trace,
            remote_trace(model, std::move(request), answer, answered, narrow<int>(from), held.get(), cancel));
        remember(trace);
        return trace;
    }

    Result<Matrix> logits_under(const Trace& run, const std::vector<const Intervention*>& changed,
                                int position, const CancelFlag* cancel) override {
        ForwardRequest common = run.request;
        common.intervention.changes.clear();
        Question asked = question(run.config(), common, "outcomes");
        asked.header["at"] = position;
        for (const Intervention* one : changed) {
            const std::string rows = "rows." + std::to_string(asked.header["cases"].size()) + ".";
            asked.header["cases"].push_back(spelled_all(run.config(), *one, rows, asked.tensors));
        }
        TRY(const Frame answer, ask(run.request, std::move(asked), cancel));
        return frame_matrix(answer, "logits", std::ssize(changed), logits_);
    }

    Result<std::vector<Matrix>> gradients(const Trace& trace, const std::string& metric,
                                          const std::vector<NamedShape>& by,
                                          const CancelFlag* cancel) override {
        Question asked = question(trace.config(), trace.request, "gradient");
        asked.header["metric"] = metric;
        for (const NamedShape& one : by) asked.header["by"].push_back(one.name);
        TRY(const Frame answer, ask(trace.request, std::move(asked), cancel));
        std::vector<Matrix> out;
        for (const NamedShape& one : by) {
            TRY(out.emplace_back(), frame_matrix(answer, one.name, one.rows, one.columns));
        }
        return out;
    }

    Result<Matrix> z(const Trace& trace, int block, const CancelFlag* cancel) override {
        const ModelConfig& c = trace.config();
        const std::string name = tensors_at(c, block) + "hook_z";
        TRY(const Frame answer, ask(c, trace.request, {name}, 0, cancel));
        return frame_matrix(answer, name, trace.query_count(block), Index{c.heads(block)} * c.d_value(block));
    }

    const std::string& withheld() const override {
        const std::string& always = weights_.offered().withheld;
        return always.empty() && reads_image_ ? of_image_ : always;
    }
    int64_t weights_version() const override { return weights_.passed_version(); }
    std::string fetching() const override { return weights_.fetching(); }
    const ModelConfig& full_config() const override { return weights_.offered().read; }
    Result<std::shared_ptr<const Model>> with_weights(const CancelFlag* cancel) override {
        return weights_.model(cancel);
    }
    Result<std::shared_ptr<const Trace>> run_here(const Trace& trace, const RunHere& run,
                                                  const CancelFlag* cancel) override {
        return trace.request.inputs[0].picture ? Error{of_image_} : weights_.run(trace, run, cancel);
    }

private:
    Status note_version(const Json& answer) {
        TRY(const int64_t version, json_integer(answer, or_null("version"), 0, 0, kMaxVersion, kAnswer));
        weights_.passed_with(version);
        return success();
    }

    Result<Frame> ask_lens(ConstMatrixRef rows, Json asked, const CancelFlag* cancel) {
        asked["verb"] = "lens";
        return connection_->ask(std::move(asked), cancel, {float_rows("rows", rows)});
    }

    /// Returns whether a rule is not the one that the server described.
    static bool is_otherwise(const std::vector<EngineRule>& asked, std::vector<EngineRule>& answered) {
        bool out = false;
        for (size_t b = 0; b < asked.size(); ++b) {
            answered[b].says = answered[b].says && answered[b].causal == asked[b].causal &&
                               answered[b].window == asked[b].window;
            out = out || (asked[b].says && !answered[b].says);
        }
        return out;
    }

    struct Question {
        Json header;
        std::vector<SentTensor> tensors;
    };

    Result<Frame> ask(const ModelConfig& c, const ForwardRequest& request,
                      const std::vector<std::string>& tensors_asked, int have, const CancelFlag* cancel) {
        Question asked = question(c, request, "run");
        asked.header["capture"] = tensors_asked;
        if (have > 0) asked.header["from"] = have;
        return ask(request, std::move(asked), cancel);
    }

    /// Asks about a run, which may have read a picture.
    Result<Frame> ask(const ForwardRequest& request, Question asked, const CancelFlag* cancel) {
        const Picture* picture = request.inputs[0].picture.get();
        if (!picture) return connection_->ask(std::move(asked.header), cancel, asked.tensors);
        return texts_.ask_about(*picture, std::move(asked.header), cancel, asked.tensors);
    }

    /// Says which text is read, and under which interventions.
    static Question question(const ModelConfig& c, const ForwardRequest& request, const char* verb) {
        Question out;
        auto& [asked, tensors] = out;
        asked = {{"verb", verb}, {"ids", request.inputs[0].ids}};
        if (!request.inputs[0].types.empty()) asked["token_types"] = request.inputs[0].types;
        if (request.inputs.size() > 1) asked["target_ids"] = request.inputs[1].ids;
        const Mask& mask = request.intervention.mask;
        if (mask.file_rows() > 0) {
            asked["mask"] = "rows";
            tensors.push_back(
                mask_rows(mask, std::max(request.inputs[0].size(), request.inputs.back().size())));
        } else if (!mask.is_own()) {
            asked["mask"] = mask.name();
        }
        if (auto changes = spelled_all(c, request.intervention, "rows.", tensors); !changes.empty())
            asked["changes"] = std::move(changes);
        return out;
    }

    /// Spells changes; values that no text gives are sent beside them, as "rows.2".
    static Json spelled_all(const ModelConfig& c, const Intervention& intervention, const std::string& rows,
                            std::vector<SentTensor>& tensors) {
        Json out = Json::array();
        for (const Change& change : intervention.changes) {
            if (change.pattern && change.kind != ChangeKind::noise)
                tensors.push_back(float_rows(rows + std::to_string(out.size()), *change.pattern));
            out.push_back(spelled(c, change));
        }
        return out;
    }

    /// Returns a pass whose first rows this one may have, or null.
    std::shared_ptr<const Trace> known(const std::shared_ptr<const Model>& model,
                                       const ForwardRequest& request, const Trace* past) {
        if (!reuses_ || request.inputs.size() > 1 ||
            std::any_of(rules_.begin(), rules_.end(), [](const EngineRule& r) { return !r.says; }))
            return nullptr;
        std::shared_ptr<const Trace> best;
        int longest = 0;
        std::lock_guard lock(mutex_);
        for (const std::weak_ptr<const Trace>& one : remembered_) {
            auto trace = one.lock();
            if (!trace || trace->model != model || trace->request.intervention != request.intervention ||
                trace->request.inputs[0].picture != request.inputs[0].picture || !has_vectors(*trace))
                continue;
            const bool given = trace.get() == past;
            const int rows = common(trace->output().ids, request.inputs.back().ids);
            if (rows < longest || (rows == longest && !given)) continue;
            longest = rows;
            best = std::move(trace);
        }
        return best;
    }
    /// Returns whether every block of a pass has its q and k: not where patterns were asked for.
    static bool has_vectors(const Trace& trace) {
        bool out = true;
        for (int block = 0; block < trace.config().blocks(); ++block) out = out && trace.has_scores(block);
        return out;
    }
    static int common(const std::vector<int>& a, const std::vector<int>& b) {
        return narrow<int>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    }
    void remember(const std::shared_ptr<const Trace>& trace) {
        std::lock_guard lock(mutex_);
        remembered_.insert(remembered_.begin(), trace);
        remembered_.resize(std::min(remembered_.size(), kRemembered));
    }

    const std::shared_ptr<Connection> connection_;
    RemoteTexts texts_;
    FetchedWeights weights_;
    const std::vector<EngineRule> rules_;
    const bool reuses_;
    const int logits_;  // of a row; 0: none
    const std::string runs_on_;
    const std::string of_image_ =
        "This needs the weights here, and images are read where the model is; leave the image out.";
    std::atomic<bool> reads_image_ = false;  // the newest pass: weights here would not
    std::mutex mutex_;                       // guards what follows
    Matrix last_row_, last_logits_;          // asked for last: one pass's prediction is read several times
    std::vector<std::weak_ptr<const Trace>> remembered_;  // the newest first
};

/// "transformers 5.24.0, torch 2.13.0, cpu, float32".
Result<std::string> runs_on(const Json& about) {
    std::string out;
    for (const char* key : {"runs", "device", "dtype"}) {
        TRY(const std::string part, json_string(about, or_null(key), "", kAnswer));
        if (!part.empty()) out += (out.empty() ? "" : ", ") + printable(shortened(part));
    }
    return out.empty() ? "another process" : out;
}

}  // namespace

Result<std::shared_ptr<const Model>> open_engine(const std::string& address, const CancelFlag* cancel,
                                                 const std::shared_ptr<const Model>& open) {
    if (open && open->engine && open->path == shown_address(address) && open->engine->is_there()) return open;
    TRY(const EngineAddress parsed, parse_engine_address(address));
    TRY(auto connection, Connection::open(parsed, shown_address(address), cancel));
    TRY(const Frame described, connection->ask({{"verb", "describe"}, {"tokenizer", "file"}}, cancel));
    TRY(EngineDescription description, read_description(described));
    TRY(std::string who, runs_on(connection->about()));
    const auto model = description.model;
    model->path = shown_address(address);
    model->base_name = model->name;
    model->engine =
        std::make_shared<RemoteEngine>(std::move(connection), std::move(description), std::move(who));
    return std::shared_ptr<const Model>(model);
}

}  // namespace headlight
