// Tests tables whose cells are partly words, or wider than a float.
#include <cstring>

#include "figure/file_formats.h"
#include "helpers.h"
#include "io/safetensors.h"
#include "learn/numbers.h"

using namespace headlight;

namespace {

NumberTable exact_table() {
    NumberTable out{"costs", "row", "column", {"a", "b"}, {"x", "y"}, {}};
    out.exact = DoubleMatrix(2, 2);
    out.exact << 1e15 + 1, 0.1, 3, 7;
    out.values = out.exact.cast<float>();
    return out;
}

}  // namespace

TEST_CASE("exact numbers in a .safetensors file read back to the last bit, and so do later tables") {
    TemporaryFolder folder;
    const auto path = folder.path / "t.safetensors";
    NumberTable plain{"plain", "row", "column", {"a"}, {"x"}, Matrix::Constant(1, 1, 0.5f)};
    REQUIRE(write_numbers(path, std::vector{exact_table(), plain}));
    const auto file = open_safetensors(path);
    REQUIRE_MESSAGE(file, file.error().message);
    const auto& bytes = file->tensors.at("costs").bytes;
    REQUIRE(bytes.size() == 4 * sizeof(double));
    CHECK(std::memcmp(bytes.data(), exact_table().exact.data(), bytes.size()) == 0);
    CHECK(file->tensors.at("plain").bytes.size() == sizeof(float));
}

TEST_CASE("words in a table of Learn are exported as texts") {
    const double word = std::numeric_limits<double>::quiet_NaN();
    learn::Page page;
    page.blocks.push_back(learn::Table{"Costs",
                                       {"part", "formula", "count"},
                                       {{"embedding", "V d", "1,000"}, {"head", "d²", "16"}},
                                       {{word, word, 1000}, {word, word, 16}}});
    const auto tables = learn::page_numbers(page);
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].rows == std::vector<std::string>{"embedding", "head"});
    CHECK(tables[0].texts == std::vector<std::string>{"V d", "", "d²", ""});
    CHECK(as_csv(tables[0]) == "row\\column,formula,count\nembedding,V d,1000\nhead,d²,16\n");
    page.blocks[0] = learn::Table{"Numbers", {"count"}, {{"2"}}, {{2}}};
    CHECK(learn::page_numbers(page)[0].texts.empty());
}
