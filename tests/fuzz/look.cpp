#include "look.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "analysis/attention/head_summary.h"
#include "analysis/prediction/generate.h"
#include "base/check.h"
#include "cli/render.h"
#include "learn/station.h"
#include "questions/questions.h"
#include "session/work/worker.h"
#include "trace/trace_file.h"
#include "views/views.h"

namespace headlight::fuzz {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLongestMessage = 1500;
constexpr std::array kEndings = {"svg", "json", "png", "npy"};

struct Look {
    const std::shared_ptr<const Trace>& trace;
    int block, head;
    uint8_t where;
    const fs::path& folder;
    ThreadPool& pool;
};

void check_status(const Status& status) {
    if (!status) check_message(status.error());
}

void draw(const Look& look, const std::string& view) {
    RenderOptions o;
    o.input.quiet = true;
    o.view = view;
    o.figure.block = look.block;
    o.figure.head = look.head;
    o.figure.drop_sink = look.where & 1;
    if (look.where & 2) o.mean = "layer";
    o.chosen["show"] = std::array{"pattern", "delta", "next"}[look.where % 3];
    o.with = look.where & 4 ? "0.0" : "";
    check_status(render_one(
        o, look.trace,
        (look.folder / ("out." + std::string(kEndings[look.where / 8 % kEndings.size()]))).string(),
        look.pool));
}

template <size_t Kind>
void ask(const Look& look) {
    auto answer =
        answer_for({look.trace, nullptr, nullptr}, {look.block, look.head}, std::nullopt, look.pool);
    if (!answer) return check_message(answer.error());
    check_status(
        answer_questions(*answer, {clamped(Question(std::in_place_index<Kind>), *look.trace)}, look.pool));
}

void open_station(const Look& look, const learn::Station& station) {
    auto answer =
        answer_for({look.trace, nullptr, nullptr}, {look.block, look.head}, std::nullopt, look.pool);
    if (!answer) return check_message(answer.error());
    PageRequest request;
    request.station = station.key;
    request.block = look.block;
    request.head = look.head;
    request.head_chosen = look.where & 8;
    request.query = look.where % 8 - 1;
    check_status(answer_questions(*answer, {clamped(Question(request), *look.trace)}, look.pool));
}

void write_on(const Look& look, int beams, float temperature) {
    if (!look.trace->has_weights()) return;
    GenerationRequest request;
    request.length = 4;
    request.sampling.beams = beams;
    request.sampling.temperature = temperature;
    request.sampling.top_k = look.where % 4;
    const auto written =
        generate(look.trace->model, look.trace->request, request, look.pool, nullptr, look.trace.get());
    if (!written) check_message(written.error());
}

void keep(const Look& look) {
    const fs::path file = look.folder / "trace.safetensors";
    check_status(write_trace(file, *look.trace, {"*"}, look.pool));
    const auto opened = open_trace(file);
    if (!opened) check_message(opened.error());
}

std::vector<std::function<void(const Look&)>> all_looks() {
    std::vector<std::function<void(const Look&)>> looks;
    for (const View& view : views())
        looks.push_back([key = std::string(view.key)](const Look& look) { draw(look, key); });
    for (const FigureKind& kind : figure_kinds())
        looks.push_back([key = std::string(kind.name)](const Look& look) { draw(look, key); });
    [&]<size_t... Kind>(std::index_sequence<Kind...>) { (looks.push_back(ask<Kind>), ...); }
    (std::make_index_sequence<std::variant_size_v<Question>>());
    for (const learn::Station& station : learn::stations())
        looks.push_back([&station](const Look& look) { open_station(look, station); });
    looks.push_back([](const Look& look) { write_on(look, 1, 0); });
    looks.push_back([](const Look& look) { write_on(look, 3, 0); });
    looks.push_back([](const Look& look) { write_on(look, 1, 1); });
    looks.push_back(
        [](const Look& look) { (void)static_cast<bool>(summarize_heads(*look.trace, 8, look.pool)); });
    looks.push_back(keep);
    return looks;
}

}  // namespace

void look_at(const std::shared_ptr<const Trace>& trace, uint8_t what, uint8_t where, const fs::path& folder,
             ThreadPool& pool) {
    static const auto looks = all_looks();
    const ModelConfig& c = trace->config();
    const int block = where % c.blocks();
    tell_failures([&] {
        looks[what % looks.size()]({trace, block, where / 2 % c.heads(block), where, folder, pool});
    });
}

void check_message(const Error& error) {
    if (error.message.size() <= kLongestMessage && !error.message.empty()) return;
    std::fprintf(stderr, "a message of %zu bytes: %.300s\n", error.message.size(), error.message.c_str());
    std::abort();
}

void tell_failures(const std::function<void()>& run) {
    try {
        run();
    } catch (const Failure& failure) {
        check_message(failure.error());
    }
}

const fs::path& scratch_folder() {
    static const fs::path folder = [] {
        const fs::path memory = "/dev/shm";
        const fs::path made = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
                              ("headlight-fuzz-" + std::to_string(getpid()));
        fs::create_directories(made);
        std::atexit([] { fs::remove_all(scratch_folder()); });
        return made;
    }();
    return folder;
}

}  // namespace headlight::fuzz
