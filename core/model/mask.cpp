#include "model/mask.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/cast.h"
#include "base/quoted.h"
#include "io/json.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

constexpr size_t kMaxRows = 8192;

bool own_allows(const MaskPair& p) {
    const int apart = p.query - p.key;
    if (p.own.causal && apart < 0) return false;
    return p.own.window <= 0 || std::abs(apart) < p.own.window;
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

/// Where more or fewer numbers follow the name than belong there.
Error wrong_count(const std::string& text, const MaskKind& kind) {
    constexpr const char* counts[] = {"no number", "one number", "two numbers"};
    constexpr const char* examples[] = {"", ":4", ":1:4"};
    return Error{"The mask " + in_quotes(text) + " takes " + counts[kind.numbers] +
                 " behind its name, as in " + in_quotes(kind.name + std::string(examples[kind.numbers])) +
                 " (" + kind.help + ")."};
}

}  // namespace

std::span<const MaskKind> mask_kinds() {
    static const MaskKind table[] = {
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
         [](std::span<const int>, const MaskPair& p) {
             return own_allows(p) && p.sentences[p.key] != kPadding;
         }},
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
             return causality_allows(p) &&
                    (p.query < n[0] || p.key < n[0] || std::abs(p.query - p.key) < n[1]);
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
    return table;
}

Mask::Mask() : kind_(&mask_kinds()[0]) {}

bool Mask::is_own() const { return kind_ == &mask_kinds()[0] && !rows_; }

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

bool Mask::allows(const MaskPair& p) const {
    if (!rows_) return kind_->allows(numbers_, p);
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
            const auto read = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), number);
            const int min = kind.min[i - 1];
            if (read.ec != std::errc() || read.ptr != parts[i].data() + parts[i].size() || number < min ||
                number > 1'000'000)
                return Error{"The mask " + in_quotes(text) + " needs whole numbers behind its colons" +
                             (min ? ", a window of at least " + std::to_string(min) : "") + "; write " +
                             kind.help + "."};
            mask.numbers_.push_back(number);
        }
        return mask;
    }
    return Error{"The mask " + in_quotes(text) + " is unknown; use one of: " + known + ", file:F.json."};
}

namespace {

/// One row of a plan by asking about every key.
void fill_row(const Mask& mask, MaskPair pair, MaskPlan& plan) {
    KeyRange& visible = plan.visible[pair.query];
    visible = {plan.keys, 0};
    int count = 0;
    std::vector<bool> hidden(plan.keys);
    for (pair.key = 0; pair.key < plan.keys; ++pair.key) {
        const bool allowed = mask.allows(pair);
        hidden[pair.key] = !allowed;
        if (!allowed) continue;
        visible = {std::min(visible.begin, pair.key), pair.key + 1};
        ++count;
    }
    if (count == 0) visible = {0, 0};
    if (count < visible.size()) {
        plan.masked.resize(plan.visible.size());
        plan.masked[pair.query] = std::move(hidden);
    }
}

}  // namespace

MaskPlan MaskPlan::make(const Mask& mask, const MaskParams& own, std::span<const int> sentences,
                        const CancelFlag* cancel) {
    const int n = isize(sentences);
    MaskPlan plan{std::vector(sentences.size(), KeyRange{}), n, {}};
    for (int q = 0; q < n && !stopped(cancel); ++q) {
        if (!mask.is_own()) {
            fill_row(mask, {q, 0, own, sentences}, plan);
            continue;
        }
        const int reach = own.window > 0 ? own.window : n;
        plan.visible[q] = {std::max(0, q - reach + 1), own.causal ? q + 1 : std::min(n, q + reach)};
    }
    return plan;
}

MaskPlan MaskPlan::full(int queries, int keys) { return {std::vector(queries, KeyRange{0, keys}), keys, {}}; }

bool MaskPlan::same_row(const MaskPlan& other, int q) const {
    const size_t at = q;
    if (visible[at] != other.visible[at] || has_masked(q) != other.has_masked(q)) return false;
    if (!has_masked(q)) return true;
    const KeyRange& range = visible[at];
    return std::equal(masked[at].begin() + range.begin, masked[at].begin() + range.end,
                      other.masked[at].begin() + range.begin);
}

namespace {

/// One row of `set`: keys [begin, end) of a row are seen, or hidden.
void set_row(MaskPlan& plan, size_t q, int begin, int end, bool allowed) {
    KeyRange& range = plan.visible[q];
    std::vector<bool> hidden = plan.masked[q];
    if (hidden.empty()) {
        hidden.assign(plan.keys, true);
        std::fill(hidden.begin() + range.begin, hidden.begin() + range.end, false);
    }
    std::fill(hidden.begin() + begin, hidden.begin() + end, !allowed);
    const auto first = std::find(hidden.begin(), hidden.end(), false);
    const auto last = std::find(hidden.rbegin(), hidden.rend(), false);
    range = first == hidden.end()
                ? KeyRange{}
                : KeyRange{narrow<int>(first - hidden.begin()), narrow<int>(hidden.rend() - last)};
    const bool masked = std::find(hidden.begin() + range.begin, hidden.begin() + range.end, true) !=
                        hidden.begin() + range.end;
    plan.masked[q] = masked ? std::move(hidden) : std::vector<bool>();
}

}  // namespace

void MaskPlan::set(const Rectangle& cells, bool allowed) {
    const int end = cells.key + std::min(cells.keys, keys - cells.key);
    const int last = cells.query + std::min(cells.queries, isize(visible) - cells.query);
    if (cells.key < 0 || cells.query < 0 || end <= cells.key) return;
    masked.resize(visible.size());
    for (int q = cells.query; q < last; ++q) set_row(*this, q, cells.key, end, allowed);
}

bool MaskPlan::hides_any() const {
    return std::any_of(visible.begin(), visible.end(), [&](const KeyRange& r) { return r.size() < keys; }) ||
           std::any_of(masked.begin(), masked.end(), [](const auto& row) { return !row.empty(); });
}

KeyRange MaskPlan::weighed(int first, int last) const {
    KeyRange all{keys, 0};
    for (int q = first; q < last; ++q) {
        const KeyRange row = weighed(q);
        all = {std::min(all.begin, row.begin), std::max(all.end, row.end)};
    }
    return all;
}

std::vector<int> sentence_numbers(std::span<const std::string> tokens, std::span<const int> types,
                                  int count) {
    std::vector<int> out;
    int number = 0;
    for (int i = 0; i < count; ++i) {
        const size_t at = i;
        if (i > 0 && at < types.size() && types[at] != types[at - 1]) ++number;
        out.push_back(number);
        const std::string_view token = at < tokens.size() ? std::string_view(tokens[at]) : "";
        if (!token.empty() && (token.back() == '.' || token.back() == '!' || token.back() == '?')) ++number;
    }
    return out;
}

}  // namespace headlight
