// Tests the longest piece that a text begins with against a search of every piece.
#include "tokenizer/prefix_table.h"

#include <random>

#include "helpers.h"

using namespace headlight;

TEST_CASE("prefix table: finds the longest prefix, for any bytes") {
    const unsigned seed = std::random_device()();
    INFO("seed ", seed);
    std::mt19937 random(seed);
    const auto some_text = [&](int longest) {
        std::string out;
        for (int i = int(random() % unsigned(longest + 1)); i > 0; --i)
            out += "ab\xE2\x96\x81<\xFF\x01"[random() % 8];
        return out;
    };
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> pieces;
        for (int i = int(random() % 40); i > 0; --i) pieces.push_back(some_text(5));
        PrefixTable<int> table;
        for (const std::string& piece : pieces) table.add(piece, 0);
        const std::string text = some_text(12);
        for (size_t at = 0; at <= text.size(); ++at) {
            const std::string_view rest = std::string_view(text).substr(at);
            std::string longest;
            for (const std::string& piece : pieces)
                if (piece.size() > longest.size() && rest.starts_with(piece)) longest = piece;
            const auto* found = table.longest(rest);
            CHECK((found ? found->first : "") == longest);
        }
    }
}
