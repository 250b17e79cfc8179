// Tests which of a model's files are read, and which are refused.
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "base/cast.h"
#include "helpers.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/input.h"
#include "model/loading/parameters.h"
#include "questions/answering.h"
#include "trace/trace_file.h"

using namespace headlight;

TEST_CASE("the two spellings of a configuration mean the same, and both count the file's parameters") {
    for (const auto& entry : std::filesystem::directory_iterator(kTests / "reference/models")) {
        if (!std::filesystem::exists(entry.path() / "config_v4.json")) continue;
        CAPTURE(entry.path().string());
        const auto now = parse_config(*read_json(entry.path() / "config.json"), "now"),
                   before = parse_config(*read_json(entry.path() / "config_v4.json"), "before");
        REQUIRE(now);
        REQUIRE(before);
        CHECK(*now == *before);
        const auto model = Model::open(entry.path());
        REQUIRE(model);
        CHECK(parameter_count(*now) == (*model)->store->parameters());
    }
}

TEST_CASE("parameter table of GPT-2 small: 124,439,808") {
    const auto config = parse_config(Json{{"model_type", "gpt2"}}, "x");
    REQUIRE(config);
    CHECK(parameter_count(*config) == 124'439'808);
    CHECK(short_count(124'439'808) == "124 M");
    const auto model = reference_model("gpt2");
    CHECK(parameter_count(model->config) == model->store->parameters());
}

TEST_CASE("malformed files: one sentence each, nothing opens") {
    const Json manifest = Json::parse(read_bytes(kTests / "reference/malformed/manifest.json"));
    const auto vit = reference_model("vit");
    for (const Json& c : manifest["cases"]) {
        CAPTURE(c.dump());
        const auto path = kTests / "reference/malformed" / c["path"].get<std::string>();
        std::string message;
        if (c["kind"] == "png") {
            if (const auto image = open_image(path); !image) message = image.error().message;
        } else if (const auto model = Model::open(path); !model) {
            message = model.error().message;
        } else if (c["kind"] == "tokenizer") {
            if (const auto input = encode_input(**model, {"hello world", "", "", {}, {}, {}, nullptr});
                !input)
                message = input.error().message;
        }
        const std::string expect = c["expect"];
        if (expect == "error") CHECK(!message.empty());
        if (expect == "ok") CHECK(message.empty());
        if (message.empty()) continue;
        CHECK(message.size() > 20);
        CHECK(message.find('\n') == std::string::npos);
        CHECK(message.back() == '.');
    }
}

namespace {

/// Returns a file of safetensors whose header was edited.
std::string with_header(const std::string& bytes, const std::function<void(Json&)>& edit) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    Json header = Json::parse(bytes.substr(sizeof size, size));
    edit(header);
    const std::string text = header.dump();
    const uint64_t now = text.size();
    return std::string(reinterpret_cast<const char*>(&now), sizeof now) + text +
           bytes.substr(sizeof size + size);
}

/// Lists the tensors of a file, of those that differ in digits alone (layers, experts) the first.
std::map<std::string, std::vector<int64_t>> kinds_of_tensors(const std::string& bytes) {
    std::map<std::string, std::vector<int64_t>> out;
    std::set<std::string> known;
    with_header(bytes, [&](Json& header) {
        for (const auto& [name, tensor] : header.items()) {
            std::string kind = name;
            std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
            if (name != "__metadata__" && known.insert(kind).second)
                out[name] = tensor["shape"].get<std::vector<int64_t>>();
        }
    });
    return out;
}

/// Says why the model of a folder does not open, or "".
std::string problem_of(const std::filesystem::path& folder) {
    const auto model = Model::open(folder);
    return model ? "" : model.error().message;
}

}  // namespace

TEST_CASE("every kind of tensor of every family: a model with one missing or of another shape is refused") {
    int tried = 0;
    for (const auto& family : std::filesystem::directory_iterator(kTests / "reference/models")) {
        if (!std::filesystem::exists(family.path() / "model.safetensors")) continue;
        TemporaryFolder folder;
        for (const auto& file : std::filesystem::directory_iterator(family.path()))
            if (file.is_regular_file()) std::filesystem::copy(file.path(), folder.path);
        const auto path = folder.path / "model.safetensors";
        const std::string bytes = read_bytes(path);
        for (const auto& [name, shape] : kinds_of_tensors(bytes)) {
            CAPTURE(family.path().filename().string());
            CAPTURE(name);
            const auto check = [&, name = name](const char* what, const std::function<void(Json&)>& edit) {
                write_bytes(path, with_header(bytes, edit));
                const std::string problem = problem_of(folder.path);
                CAPTURE(what);
                CAPTURE(problem);
                CHECK(problem.find("tensor") != std::string::npos);  // and its name, or that of one like it
                CHECK(problem.find('\n') == std::string::npos);
                ++tried;
            };
            check("renamed", [name = name](Json& header) {
                header[name + "_other"] = header[name];
                header.erase(name);
            });
            if (shape.size() > 1)
                check("flat", [name = name](Json& header) {
                    int64_t all = 1;
                    for (const Json& side : header[name]["shape"]) all *= side.get<int64_t>();
                    header[name]["shape"] = {all};
                });
        }
    }
    CHECK(tried > 900);
}

TEST_CASE("names of tensors are matched by globs") {
    CHECK(glob_match("*", ""));
    CHECK(glob_match("blocks.*.hook_q", "blocks.10.attn.hook_q"));
    CHECK(!glob_match("blocks.?.attn", "blocks.10.attn"));
    CHECK(glob_match("*a*b*c", "xaybzc"));
    CHECK(!glob_match("*a*b*c", "xaybz"));
}

namespace {

/// Returns whether an address is inside this mapped file.
bool is_mapped(const void* address, const std::filesystem::path& file) {
    std::ifstream maps("/proc/self/maps");
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (std::string line; std::getline(maps, line);) {
        uintptr_t begin = 0, end = 0;
        char dash = 0;
        std::istringstream(line) >> std::hex >> begin >> dash >> end;
        if (at >= begin && at < end) return line.ends_with(file.string());
    }
    return false;
}

}  // namespace

TEST_CASE("recorded patterns are read from the mapped file, and changes to it are detected") {
    const TemporaryFolder folder;
    const auto path = folder.path / "patterns.safetensors";
    ThreadPool pool(1);
    TextInput typed;
    typed.ids = {1, 2, 3, 4, 5};
    const auto model = reference_model("gpt2");
    const auto live = *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    REQUIRE(write_trace(path, *live, {"*hook_pattern", "input_ids"}, pool));
    const auto opened = open_trace(path);
    REQUIRE(opened);
    const Trace& trace = **opened;
    const std::string bytes = read_bytes(path);
    const auto copied = [&] {
        const std::string passing = bytes;
        return parse_trace(std::as_bytes(std::span(passing)), "bytes");
    }();
    REQUIRE(copied);
    std::string newer = bytes;
    const std::string version = R"("version":"1")";
    newer.replace(newer.find(version), version.size(), R"("version":"2")");
    const auto refused = parse_trace(std::as_bytes(std::span(newer)), "bytes");
    CHECK((!refused && refused.error().message.find("newer version") != std::string::npos));
    for (int block = 0; block < trace.config().blocks(); ++block)
        for (int head = 0; head < trace.config().heads(block); ++head) {
            CHECK(same(trace.pattern(block, head), live->pattern(block, head)));
            CHECK(same((*copied)->pattern(block, head), live->pattern(block, head)));
            CHECK(same(Matrix(*trace.rule(block).given_pattern(head)), live->pattern(block, head)));
        }
#if !defined(HEADLIGHT_SANITIZED)  // there tensors are in their own heap blocks
    CHECK(is_mapped(trace.rule(1).given_pattern(2)->data(), path));
#endif
    CHECK(!is_mapped((*copied)->rule(1).given_pattern(2)->data(), path));
    CHECK(trace.model->store->check_unchanged());
    std::filesystem::resize_file(path, bytes.size() / 2);
    CHECK(!trace.model->store->check_unchanged());
}

namespace {

/// Asks every kind of question that a view may ask.
template <size_t... Kind>
void ask_everything(const std::shared_ptr<const Trace>& trace, ThreadPool& pool,
                    std::index_sequence<Kind...>) {
    const auto ask = [&](const Question& question) {
        CAPTURE(question.index());
        auto about = answer_for({trace, nullptr, nullptr}, {0, 0}, std::nullopt, pool);
        REQUIRE(about);
        const Status asked = answer_questions(*about, {clamped(question, *trace)}, pool);
        CHECK((asked || asked.error().message.ends_with(".")));
    };
    (ask(Question(std::in_place_index<Kind>)), ...);
}

}  // namespace

TEST_CASE("every question about a trace without weights is answered, or refused with a sentence") {
    const TemporaryFolder folder;
    const auto path = folder.path / "trace.safetensors";
    ThreadPool pool(1);
    for (const char* name : {"gpt2", "llama", "marian"}) {
        const auto model = reference_model(name);
        ForwardRequest request = request_of({1, 2, 3, 4, 5});
        if (isize(model->config.stacks) > 1) request.inputs.push_back(request_of({1, 2}).inputs[0]);
        const auto live = *run_trace(model, request, pool);
        for (const std::vector<std::string>& held :
             {std::vector<std::string>{"*"}, {"*hook_pattern", "*input_ids"}, {"*hook_q", "*hook_k"}}) {
            REQUIRE(write_trace(path, *live, held, pool));
            const auto trace = open_trace(path);
            REQUIRE(trace);
            ask_everything(*trace, pool, std::make_index_sequence<std::variant_size_v<Question>>());
        }
    }
}

TEST_CASE("a trace whose recorded q and k give infinite scores is refused") {
    const TemporaryFolder folder;
    const auto path = folder.path / "large.safetensors";
    ThreadPool pool(1);
    TextInput typed;
    typed.ids = {1, 2, 3};
    const auto model = reference_model("gpt2");
    const auto live = *run_trace(model, {encode_input(*model, typed)->sequences, {}}, pool);
    REQUIRE(write_trace(path, *live, {"*hook_q", "*hook_k", "input_ids"}, pool));
    REQUIRE(open_trace(path));
    std::string bytes = read_bytes(path);
    const float large = 1e38f;
    for (size_t last = 2; last-- > 0;)  // an entry of q and one of k: either may be the largest
        std::memcpy(
            bytes.data() + bytes.size() - sizeof large - last * live->q(2, 0).all().size() * 4 * sizeof large,
            &large, sizeof large);
    const auto refused = parse_trace(std::as_bytes(std::span(bytes)), "bytes");
    REQUIRE(!refused);
    CHECK(refused.error().message.find("so large that their scores are infinite") != std::string::npos);
}
