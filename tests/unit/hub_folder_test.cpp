// Tests folders of the hub's cache, opened by their own path.
#include "helpers.h"
#include "hub/hub.h"
#include "hub/library.h"

using namespace headlight;
namespace fs = std::filesystem;

namespace {

void copy_snapshot(const char* name, const fs::path& to) {
    fs::create_directories(to);
    for (const auto& file : fs::directory_iterator(kTests / "reference/models" / name))
        fs::copy(file.path(), to);
}

void change_snapshot(const fs::path& folder, const Json& changes) {
    Json config = *read_json(folder / "config.json");
    config.update(changes);
    write_bytes(folder / "config.json", config.dump());
}

}  // namespace

TEST_CASE("a folder of the hub's cache opens at its refs/main") {
    TemporaryFolder cache;
    const fs::path folder = cache.path / "models--tiny--gpt2";
    for (const char* commit : {"aaa", "bbb", "ccc"}) {
        copy_snapshot("gpt2", folder / "snapshots" / commit);
        change_snapshot(folder / "snapshots" / commit,
                        {{"layer_norm_epsilon", commit[0] == 'b' ? 0.5 : 0.25}});
    }
    fs::create_directories(folder / "refs");
    for (const char* main : {"bbb", "bbb\n"}) {
        write_bytes(folder / "refs/main", main);
        CHECK(open_config(out_of_hub_cache(folder))->norm_eps == 0.5f);
        CHECK((*open_model(folder.string()))->config.norm_eps == 0.5f);
        CHECK(open_tokenizer(out_of_hub_cache(folder)));
        CHECK(examine_model(folder, "x", "y").problem.empty());
    }
    write_bytes(folder / "refs/main", "aaa");
    CHECK((*open_model(folder.string()))->config.norm_eps == 0.25f);
    fs::remove(folder / "refs/main");
    fs::remove(folder / "snapshots/ccc/config.json");  // nothing to open there
    CHECK((*open_model(folder.string()))->config.norm_eps == 0.5f);
    write_bytes(folder / "config.json", read_bytes(folder / "snapshots/aaa/config.json"));
    CHECK(open_config(out_of_hub_cache(folder))->norm_eps ==
          0.25f);  // a model's own folder, whatever it contains
}

TEST_CASE("a snapshot with only a GGUF file opens by its folder") {
    TemporaryFolder cache;
    const fs::path folder = cache.path / "models--tiny--gguf";
    fs::create_directories(folder / "snapshots/aaa");
    fs::create_directories(folder / "refs");
    write_bytes(folder / "refs/main", "aaa");
    for (const auto& file : fs::directory_iterator(kTests / "reference/models/gpt2_gguf"))
        if (file.path().extension() == ".gguf") fs::copy(file.path(), folder / "snapshots/aaa/model.gguf");
    REQUIRE(open_model(folder.string()));
    CHECK(open_config(out_of_hub_cache(folder))->family == "gpt2");
    CHECK(open_tokenizer(out_of_hub_cache(folder)));
}
