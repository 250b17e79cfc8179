// Holds what unit tests share.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <string>

#include "base/matrix.h"
#include "model/loading/config.h"
#include "trace/trace.h"

namespace headlight {

inline const std::filesystem::path kTests = HEADLIGHT_TESTS_DIR;

/// Makes a folder, removed at the end.
struct TemporaryFolder {
    std::filesystem::path path;
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "headlight-unit-XXXXXX").string();
        path = mkdtemp(pattern.data());
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

/// Compares bit for bit, except for the sign of zeros.
inline bool same(const Matrix& a, const Matrix& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
}

inline Matrix random_matrix(Index rows, Index cols, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Matrix m(rows, cols);
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = normal(random);
    return m;
}

inline std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

inline std::shared_ptr<const Model> reference_model(const std::string& name) {
    auto model = Model::open(kTests / "reference/models" / name);
    REQUIRE_MESSAGE(model, name);
    return *model;
}

inline const std::shared_ptr<const Model>& translator() {
    static const auto model = *Model::open(kTests.parent_path() / "models/translator");
    return model;
}

/// Opens the reference BART with other numbers of heads: its matrices fit any number that divides their
/// width.
inline std::shared_ptr<const Model> bart_with_heads(int encoder, int decoder) {
    TemporaryFolder folder;
    for (const auto& file : std::filesystem::directory_iterator(kTests / "reference/models/bart"))
        std::filesystem::copy(file.path(), folder.path);
    Json config = Json::parse(read_bytes(folder.path / "config.json"));
    config["encoder_attention_heads"] = encoder;
    config["decoder_attention_heads"] = decoder;
    write_bytes(folder.path / "config.json", config.dump());
    auto model = Model::open(folder.path);
    REQUIRE(model);
    return *model;
}

#if defined(HEADLIGHT_SANITIZED)
inline constexpr bool kSanitized = true;  // ten times as slow
#else
inline constexpr bool kSanitized = false;
#endif

/// Runs work() in its own process, which may allocate this many more bytes; returns whether it succeeds.
/// Sanitizers' own memory has no limit.
template <class Work>
bool runs_within([[maybe_unused]] int64_t bytes, Work work) {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const pid_t child = fork();
    if (child == 0) {
#if !defined(HEADLIGHT_SANITIZED)
        const auto max = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
        const rlimit limit{max, max};
        setrlimit(RLIMIT_AS, &limit);
#endif
        bool good = false;
        try {
            good = work();
        } catch (const std::bad_alloc&) {
        }
        _exit(good ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline ForwardRequest request_of(std::vector<int> ids, const Mask& mask = {}) {
    Sequence s{std::move(ids), {}, {}, nullptr};
    s.tokens.resize(s.ids.size());
    return {{std::move(s)}, {mask, {}}};
}

inline std::shared_ptr<const Trace> trace_of(const std::shared_ptr<const Model>& model, std::vector<int> ids,
                                             ThreadPool& pool, const Mask& mask = {}) {
    return *run_trace(model, request_of(std::move(ids), mask), pool);
}

/// Returns whether a message contains these words.
inline bool says(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
}

}  // namespace headlight
