// A stand-in for libFuzzer where the compiler has none: replays the corpus, then mutations of it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// What a fuzzer's own mutator asks libFuzzer for; here mutations are made below.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size, size_t) { return size; }

int main(int argc, char** argv) {
    long runs = 1000;
    unsigned seed = 1;
    std::vector<std::string> corpus{""};
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "-runs=", 6) == 0) runs = std::atol(argv[i] + 6);
        if (std::strncmp(argv[i], "-seed=", 6) == 0) seed = unsigned(std::atol(argv[i] + 6));
        if (argv[i][0] == '-') continue;
        for (const auto& file : std::filesystem::recursive_directory_iterator(argv[i])) {
            std::ifstream in(file.path(), std::ios::binary);
            corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        }
    }
    std::mt19937 random(seed);
    const auto run = [](const std::string& s) {
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(s.data()), s.size());
    };
    for (const auto& s : corpus) run(s);
    for (long i = 0; i < runs; ++i) {
        std::string s = corpus[random() % corpus.size()];
        for (unsigned edits = 1 + random() % 4; edits > 0 && !s.empty(); --edits) {
            const size_t at = random() % s.size();
            switch (random() % 4) {
                case 0:
                    s[at] = static_cast<char>(random());
                    break;
                case 1:
                    s.erase(at, 1 + random() % 16);
                    break;
                case 2:
                    s.insert(at, s.substr(random() % s.size(), random() % 32));
                    break;
                case 3:
                    s.resize(at);
                    break;
            }
        }
        run(s);
    }
    std::printf("%zu files replayed, %ld mutations\n", corpus.size() - 1, runs);
}
