// Defines the table of masks, parses their names and reads mask files.
#include "model/interventions/mask.h"

#include <filesystem>

#include "base/quoted.h"
#include "io/json.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

constexpr size_t kMaxRows = 8192;

bool own_allows(const MaskPair& p) {
    return p.own.visible(p.query, std::max(p.query, p.key) + 1).contains(p.key);
}

bool causality_allows(const MaskPair& p) { return !p.own.causal || p.key <= p.query; }

Result<std::vector<std::vector<bool>>> read_rows(std::string_view text, const std::string& file) {
    TRY(const Json root, parse_json(text, file));
    const Error wrong{
        file +
        " is not a mask: write a JSON array with one row of 0 and 1 for each query, [[1, 0], [1, "
        "1]] for example."};
    if (!root.is_array() || root.empty() || root.size() > kMaxRows) return wrong;
    std::vector<std::vector<bool>> rows;
    for (const Json& list : root) {
        if (!list.is_array() || list.size() != root.size()) return wrong;
        std::vector<bool> row;
        for (const Json& value : list) {
            if (!value.is_number_integer() && !value.is_boolean()) return wrong;
            row.push_back(value.is_boolean() ? value.get<bool>() : value.get<int64_t>() != 0);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

Error wrong_count(const std::string& text, const MaskKind& kind) {
    constexpr const char* counts[] = {"no number", "one number", "two numbers"};
    constexpr const char* examples[] = {"", ":4", ":1:4"};
    return Error{"The mask " + in_quotes(text) + " takes " + counts[kind.numbers] +
                 " after its name, as in " + in_quotes(kind.name + std::string(examples[kind.numbers])) +
                 " (" + kind.help + ")."};
}

// The model's own stands first.
constexpr MaskKind kMasks[] = {
    {"own",
     "model default",
     "the model's own mask",
     0,
     {},
     [](std::span<const int>, const MaskPair& p) { return own_allows(p); }},
    {"none",
     "none",
     "every query sees every key",
     0,
     {},
     [](std::span<const int>, const MaskPair&) { return true; }},
    {"causal",
     "causal",
     "a query sees itself and earlier keys",
     0,
     {},
     [](std::span<const int>, const MaskPair& p) { return p.key <= p.query; }},
    {"padding",
     "padding",
     "the model's own, and nothing sees padding tokens",
     0,
     {},
     [](std::span<const int>, const MaskPair& p) { return own_allows(p) && p.sentences[p.key] != kPadding; }},
    {"window",
     "sliding window #",
     "window:W, a query sees itself and keys nearer than W",
     1,
     {1},
     [](std::span<const int> n, const MaskPair& p) {
         return causality_allows(p) && std::abs(p.query - p.key) < n[0];
     }},
    {"prefix",
     "prefix #",
     "prefix:P, causal, but the first P tokens see each other",
     1,
     {0},
     [](std::span<const int> n, const MaskPair& p) {
         return p.key <= p.query || (p.query < n[0] && p.key < n[0]);
     }},
    {"global",
     "global # + window #",
     "global:G:W, window W, and the first G tokens see and are seen by all",
     2,
     {0, 1},
     [](std::span<const int> n, const MaskPair& p) {
         return causality_allows(p) && (p.query < n[0] || p.key < n[0] || std::abs(p.query - p.key) < n[1]);
     }},
    {"block",
     "same sentence",
     "only within the query's own sentence",
     0,
     {},
     [](std::span<const int>, const MaskPair& p) {
         return causality_allows(p) && p.sentences[p.query] == p.sentences[p.key];
     }},
};

}  // namespace

std::span<const MaskKind> mask_kinds() { return kMasks; }

Mask::Mask() : kind_(&kMasks[0]) {}

bool Mask::is_own() const { return kind_ == &kMasks[0] && !rows_; }

std::string Mask::name() const {
    if (rows_) return "file:" + file_;
    std::string out = kind_->name;
    for (const int number : numbers_) out += ":" + std::to_string(number);
    return out;
}

std::string Mask::label() const {
    if (rows_) return "file " + std::filesystem::path(file_).filename().string();
    std::string out;
    size_t next = 0;
    for (const char c : std::string_view(kind_->label))
        out += c == '#' ? std::to_string(numbers_[next++]) : std::string(1, c);
    return out;
}

bool Mask::allowed(const MaskPair& p) const {
    if (!rows_) return kind_->allowed(numbers_, p);
    const size_t q = p.query, k = p.key;
    return q < rows_->size() && k < rows_->size() ? (*rows_)[q][k] : own_allows(p);
}

Result<Mask> Mask::of_rows(std::string_view text, const std::string& file) {
    Mask mask;
    mask.file_ = file;
    TRY(auto rows, read_rows(text, file));
    mask.rows_ = std::make_shared<const std::vector<std::vector<bool>>>(std::move(rows));
    return mask;
}

Result<Mask> Mask::parse(const std::string& text) {
    Mask mask;
    if (text == "file:") return Error{"The mask " + in_quotes(text) + " names no file; write file:F.json."};
    if (text.rfind("file:", 0) == 0) {
        TRY(const auto mapped, MappedFile::open(text.substr(5)));
        return of_rows(mapped->text(), text.substr(5));
    }
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ':')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    std::string known;
    for (const MaskKind& kind : mask_kinds()) {
        const std::string_view help = kind.help;
        known += (known.empty() ? "" : ", ") +
                 std::string(kind.numbers ? help.substr(0, help.find(',')) : std::string_view(kind.name));
        if (parts[0] != kind.name) continue;
        if (isize(parts) != kind.numbers + 1) return wrong_count(text, kind);
        mask.kind_ = &kind;
        for (size_t i = 1; i < parts.size(); ++i) {
            int number = 0;
            const int min = kind.min[i - 1];
            if (!read_number(parts[i], number) || number < min || number > 1'000'000)
                return Error{"The mask " + in_quotes(text) + " needs whole numbers after its colons" +
                             (min ? ", a window of at least " + std::to_string(min) : "") + "; write " +
                             kind.help + "."};
            mask.numbers_.push_back(number);
        }
        return mask;
    }
    return Error{"The mask " + in_quotes(text) + " is unknown; use one of: " + known + ", file:F.json."};
}

std::vector<int> sentence_numbers(std::span<const std::string> tokens, std::span<const int> types,
                                  int count) {
    std::vector<int> out;
    int number = 0;
    for (int i = 0; i < count; ++i) {
        if (i > 0 && i < isize(types) && types[i] != types[i - 1]) ++number;
        out.push_back(number);
        const std::string_view token = i < isize(tokens) ? std::string_view(tokens[i]) : "";
        if (!token.empty() && (token.back() == '.' || token.back() == '!' || token.back() == '?')) ++number;
    }
    return out;
}

}  // namespace headlight
