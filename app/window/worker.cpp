#include "window/worker.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/utf8.h"

namespace headlight {

namespace {

constexpr int kThumbnail = 64, kNextTokens = 5;

/// The head whose induction score is highest; without a repeated token, the one with the sharpest rows.
std::pair<int, int> most_telling_head(const SentenceResult& s) {
    const auto score = [&](const HeadSummary& h) {
        const float induction = h.statistics[static_cast<size_t>(find_statistic("induction") - head_statistics().data())];
        return std::isnan(induction) ? -h.statistics[0] : induction;
    };
    const auto best = std::max_element(s.heads.begin(), s.heads.end(), [&](const auto& a, const auto& b) { return score(a) < score(b); });
    const int index = static_cast<int>(best - s.heads.begin()), across = s.model->config.heads;
    return {index / across, index % across};
}

size_t byte_of_code_point(std::string_view text, int index) {
    size_t at = 0;
    for (int i = 0; i < index && at < text.size(); ++i) at += static_cast<size_t>(decode_utf8(text, at).length);
    return at;
}

}  // namespace

Matrix halve(const Matrix& v) {
    Matrix out((v.rows() + 1) / 2, (v.cols() + 1) / 2);
    for (Index i = 0; i < out.rows(); ++i)
        for (Index j = 0; j < out.cols(); ++j) out(i, j) = v.block(2 * i, 2 * j, std::min<Index>(2, v.rows() - 2 * i), std::min<Index>(2, v.cols() - 2 * j)).maxCoeff();
    return out;
}

HeadPicture make_picture(const Trace& trace, int layer, int head) {
    HeadPicture p{layer, head, {}, {}, 0};
    p.levels.push_back(trace.pattern(layer, head));
    Matrix& pattern = p.levels[0];
    p.row_largest = pattern.rowwise().maxCoeff().transpose();
    p.largest = pattern.maxCoeff();
    for (int q = 0; q < trace.size(); ++q)
        for (int k = 0; k < trace.size(); ++k)
            if (!trace.activations.mask.allows(q, k)) pattern(q, k) = -1;
    while (p.levels.back().rows() > 1) p.levels.push_back(halve(p.levels.back()));
    return p;
}

Worker::Worker(int threads, std::function<void()> done) : pool_(threads), done_(std::move(done)), thread_([this] { work(); }) {}

Worker::~Worker() {
    mailbox_.close();
    thread_.join();
}

void Worker::ask(WorkRequest request) {
    const bool supersedes = request.text != last_asked_.text || request.model_path != last_asked_.model_path || request.model_attempt != last_asked_.model_attempt;
    last_asked_ = request;
    mailbox_.put(std::move(request), supersedes);
}

void Worker::work() {
    while (auto request = mailbox_.take()) handle(*request);
}

void Worker::publish() {
    mailbox_.answer(std::make_shared<const WorkAnswer>(state_));
    done_();
}

void Worker::open_model(const WorkRequest& r) {
    state_.model_path = r.model_path;
    state_.model_attempt = r.model_attempt;
    state_.model_error.clear();
    const auto path = find_model(r.model_path);
    auto opened = path ? Model::open(*path) : Result<std::shared_ptr<const Model>>(path.error());
    if (opened && !(*opened)->tokenizer) opened = Error{(*opened)->tokenizer.error().message};
    if (opened) {
        model_ = *opened;
        state_.sentence = nullptr;
    } else {
        state_.model_error = opened.error().message;
        if (model_) return;
        if (const auto built_in = find_model("stories")) opened = Model::open(*built_in);  // so that a wrong path at the start leaves no dead window
        if (opened) model_ = *opened;
    }
}

/// False when a newer request cancelled it: the old sentence stays.
bool Worker::read_sentence(const WorkRequest& r) {
    const auto start = std::chrono::steady_clock::now();
    auto s = std::make_shared<SentenceResult>();
    s->model = model_;
    s->text = r.text;
    state_.text_error.clear();
    auto input = encode_for(*model_, r.text);
    if (!input) state_.text_error = input.error().message;
    if (input && !input->encoding.ids.empty()) {
        s->tokens_in_all = input->tokens_in_all;
        s->bytes_read = s->tokens_in_all > input->encoding.size() ? byte_of_code_point(r.text, input->encoding.offsets.back().end) : r.text.size();
        for (const int id : input->encoding.ids) s->labels.push_back(token_label(*model_, id));
        auto trace = run_trace(model_, {std::move(input->encoding.ids), std::move(input->encoding.tokens), {}}, pool_, &mailbox_.cancel(),
                               state_.sentence ? state_.sentence->trace.get() : nullptr);
        if (!trace) return false;
        s->trace = *trace;
        auto heads = summarize_heads(*s->trace, kThumbnail, pool_, &mailbox_.cancel());
        if (!heads) return false;
        s->heads = std::move(*heads);
        for (const Prediction& p : next_tokens(*s->trace, s->trace->size() - 1, kNextTokens, pool_)) s->next.push_back({token_label(*model_, p.id), p.probability});
    }
    s->milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    state_.sentence = std::move(s);
    state_.picture = nullptr;
    state_.cell = nullptr;
    return true;
}

void Worker::handle(const WorkRequest& r) {
    if (r.model_path != state_.model_path || r.model_attempt != state_.model_attempt) open_model(r);
    if (!model_) return publish();
    const bool fresh = !state_.sentence || state_.sentence->model != model_ || state_.sentence->text != r.text;
    if (fresh && !read_sentence(r)) return;
    const SentenceResult& s = *state_.sentence;
    if (!s.trace) {
        state_.picture = nullptr;
        state_.cell = nullptr;
        return publish();
    }
    const auto [layer, head] = r.choose_head ? most_telling_head(s) : std::pair{std::clamp(r.layer, 0, model_->config.layers - 1), std::clamp(r.head, 0, model_->config.heads - 1)};
    state_.layer = layer;
    state_.head = head;
    if (!state_.picture || state_.picture->layer != layer || state_.picture->head != head) {
        state_.picture = std::make_shared<const HeadPicture>(make_picture(*s.trace, layer, head));
        state_.cell = nullptr;
        publish();
    }
    if (!r.cell) {
        state_.cell = nullptr;
        return publish();
    }
    const Cell cell{layer, head, std::min(r.cell->first, s.trace->size() - 1), std::min(r.cell->second, s.trace->size() - 1)};
    if (!state_.cell || state_.cell->cell != cell) state_.cell = std::make_shared<const CellReport>(report_cell(*s.trace, cell, pool_));
    publish();
}

}  // namespace headlight
