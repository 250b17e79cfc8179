#include "analysis/corpus/prompts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "base/cast.h"
#include "base/draws.h"
#include "base/quoted.h"
#include "base/utf8.h"

namespace headlight {

namespace {

/// Calls each(literal, name) for the parts of a text: a literal, then a name in braces ("" at the end).
template <class Each>
void for_parts(const std::string& text, const Each& each) {
    size_t at = 0;
    while (true) {
        const size_t open = text.find('{', at), close = text.find('}', open);
        if (open == std::string::npos || close == std::string::npos) return each(text.substr(at), "");
        each(text.substr(at, open - at), text.substr(open + 1, close - open - 1));
        at = close + 1;
    }
}

}  // namespace

std::set<std::string> prompt_names(const PromptTemplate& from) {
    std::set<std::string> out;
    for (const std::string* text : {&from.text, &from.corrupted, &from.metric})
        for_parts(*text, [&](const std::string&, const std::string& name) {
            if (!name.empty()) out.insert(name);
        });
    return out;
}

namespace {

std::string filled(const std::string& text, const std::map<std::string, std::string>& values) {
    std::string out;
    for_parts(text, [&](const std::string& literal, const std::string& name) {
        out += literal;
        if (!name.empty()) out += values.at(name);
    });
    return out;
}

Error wrong(const std::string& file, const std::string& what) {
    return Error{file + ": " + what +
                 "; write {\"text\": \"When {A} and {B} …\", \"metric\": \"{A} - {B}\", "
                 "\"fill\": {\"A\": [\"Mary\", \"Anna\"], \"B\": \"A\"}}."};
}

Result<std::string> one_metric(const std::string& own, const std::string& given, const std::string& file) {
    if (!own.empty() && !given.empty())
        return Error{file + " has a metric, " + in_quotes(own) + "; leave one of the two out."};
    return own.empty() ? given : own;
}

Result<std::vector<std::string>> words_of(const Json& list, const std::string& name,
                                          const std::string& file) {
    std::vector<std::string> out;
    if (!list.is_array() || list.empty() || isize(list) > kMaxFill)
        return wrong(file, "\"fill\" gives " + in_quotes(name) + " no list of 1 to " +
                               std::to_string(kMaxFill) + " words");
    for (const Json& word : list) {
        if (!word.is_string() || word.get_ref<const std::string&>().size() > size_t(kMaxWord))
            return wrong(file, "a word of " + in_quotes(name) + " is not a text of at most " +
                                   std::to_string(kMaxWord) + " bytes");
        out.push_back(word.get<std::string>());
    }
    return out;
}

Status read_fill(const Json& fill, const std::string& file, PromptTemplate& out) {
    if (!fill.is_object()) return wrong(file, "\"fill\" is missing");
    for (const auto& [name, list] : fill.items()) {
        const bool refers = list.is_string() && fill.contains(list.get<std::string>());
        TRY(out.fill[name], words_of(refers ? fill[list.get<std::string>()] : list, name, file));
    }
    return success();
}

Status check_names(const PromptTemplate& from, const std::string& file) {
    const std::set<std::string> used = prompt_names(from);
    for (const std::string& name : used)
        if (!from.fill.count(name)) return wrong(file, "nothing fills {" + shortened(name) + "}");
    for (const auto& [name, words] : from.fill)
        if (!used.count(name)) return wrong(file, in_quotes(shortened(name)) + " fills nothing in the text");
    return success();
}

/// Odometer over the lists: all combinations, the last name fastest.
std::vector<std::vector<size_t>> all_choices(const PromptTemplate& from) {
    std::vector<std::vector<size_t>> out;
    std::vector<size_t> now(from.fill.size(), 0);
    while (true) {
        out.push_back(now);
        auto list = from.fill.rbegin();
        size_t at = now.size();
        for (; at > 0; --at, ++list) {
            if (++now[at - 1] < list->second.size()) break;
            now[at - 1] = 0;
        }
        if (at == 0) return out;
    }
}

double combinations(const PromptTemplate& from) {
    double out = 1;
    for (const auto& [name, words] : from.fill) out *= double(words.size());
    return out;
}

std::map<std::string, std::string> values_of(const PromptTemplate& from, const std::vector<size_t>& choice) {
    std::map<std::string, std::string> out;
    size_t i = 0;
    for (const auto& [name, words] : from.fill) out[name] = words[choice[i++]];
    return out;
}

bool are_different(const std::map<std::string, std::string>& values) {
    std::set<std::string> seen;
    for (const auto& [name, word] : values)
        if (!seen.insert(word).second) return false;
    return true;
}

}  // namespace

Result<PromptTemplate> parse_prompt_template(const Json& root, const std::string& file,
                                             const std::string& metric) {
    PromptTemplate out;
    if (!root.is_object()) return wrong(file, "it is not an object");
    for (const auto& [key, text] :
         {std::pair{"text", &out.text}, {"corrupted", &out.corrupted}, {"metric", &out.metric}})
        if (root.contains(key)) {
            if (!root[key].is_string()) return wrong(file, in_quotes(key) + " is not a text");
            *text = root[key].get<std::string>();
        }
    TRY(out.metric, one_metric(out.metric, metric, file));
    if (out.text.empty()) return wrong(file, "\"text\" is missing");
    for (const auto& [key, value] : root.items())
        if (key != "text" && key != "corrupted" && key != "metric" && key != "fill")
            return wrong(file, in_quotes(shortened(key)) + " is not known");
    TRY_STATUS(read_fill(root.value("fill", Json::object()), file, out));
    TRY_STATUS(check_names(out, file));
    return out;
}

namespace {

constexpr double kListedChoices = 200'000;  // combinations that are listed; of more, draws are taken

std::vector<std::vector<size_t>> different_choices(const PromptTemplate& from) {
    auto out = all_choices(from);
    std::erase_if(out, [&](const auto& choice) { return !are_different(values_of(from, choice)); });
    return out;
}

/// Keeps `count` of some, drawn with a seed.
template <class T>
void draw_some(std::vector<T>& all, int count, uint32_t seed) {
    if (isize(all) <= count) return;
    Draws draws(seed);
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[size_t(draws.below(narrow<int>(i)))]);
    all.resize(size_t(count));
}

}  // namespace

double count_prompts(const PromptTemplate& from) {
    const double all = combinations(from);
    return all <= kListedChoices ? double(different_choices(from).size()) : all;
}

std::vector<FilledPrompt> fill_prompts(const PromptTemplate& from, int count, uint32_t seed) {
    std::vector<FilledPrompt> out;
    std::set<std::string> seen;
    const auto add = [&](const std::vector<size_t>& choice) {
        const auto values = values_of(from, choice);
        FilledPrompt prompt{filled(from.text, values), filled(from.corrupted, values),
                            filled(from.metric, values), values};
        if (are_different(values) && seen.insert(prompt.text + "\n" + prompt.corrupted).second)
            out.push_back(std::move(prompt));
    };
    if (combinations(from) <= kListedChoices) {
        auto different = different_choices(from);
        draw_some(different, count, seed);
        for (const auto& choice : different) add(choice);
        return out;
    }
    Draws draws(seed);
    for (int tries = 0; isize(out) < count && tries < 100 * count; ++tries) {
        std::vector<size_t> choice;
        for (const auto& [name, words] : from.fill) choice.push_back(size_t(draws.below(isize(words))));
        add(choice);
    }
    return out;
}

PromptSet draw_prompts(const PromptTemplate& from, int at_most, uint32_t seed) {
    return {fill_prompts(from, at_most, seed), count_prompts(from), from.metric};
}

namespace {

Result<FilledPrompt> prompt_of_line(const Json& line, const std::string& name, const std::string& metric) {
    FilledPrompt out;
    if (line.is_string()) out.text = line.get<std::string>();
    if (line.is_object())
        for (const auto& [key, value] : line.items()) {
            std::string* part = key == "text" || key == "clean" ? &out.text
                                : key == "corrupted"            ? &out.corrupted
                                : key == "metric"               ? &out.metric
                                                                : nullptr;
            if (!part || !value.is_string() || !part->empty())
                return Error{name + ": " + in_quotes(key) + (part ? " is not one text" : " is not known") +
                             "; write {\"text\": …}, or {\"clean\": …, \"corrupted\": …, \"metric\": …}."};
            *part = value.get<std::string>();
        }
    if (out.text.empty())
        return Error{name + " is neither a text nor an object with \"text\" or \"clean\"; correct it."};
    TRY(out.metric, one_metric(out.metric, metric, name));
    return out;
}

Result<PromptSet> read_prompt_lines(std::string_view text, const std::string& file, const PromptDraw& draw) {
    constexpr int kMaxPromptLines = 1'000'000;
    PromptSet out;
    int number = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (++number > kMaxPromptLines)
            return Error{file + " has more than a million lines; cut it into parts."};
        if (line.find_first_not_of(" \r\t") == std::string_view::npos) continue;
        const std::string name = "Line " + std::to_string(number) + " of " + file;
        TRY(const Json said, parse_json(line, name));
        TRY(FilledPrompt prompt, prompt_of_line(said, name, draw.metric));
        out.prompts.push_back(std::move(prompt));
    }
    if (out.prompts.empty()) return Error{file + " has no prompt; write a JSON text or object a line."};
    out.metric = out.prompts.front().metric;
    for (const FilledPrompt& prompt : out.prompts)
        if (prompt.metric != out.metric) out.metric.clear();
    out.available = double(out.prompts.size());
    draw_some(out.prompts, draw.at_most, draw.seed);
    return out;
}

}  // namespace

Result<PromptSet> read_prompts(std::string_view text, const std::string& file, const PromptDraw& draw) {
    if (lower_case(file).ends_with(".jsonl")) return read_prompt_lines(text, file, draw);
    TRY(const Json root, parse_json(text, file));
    TRY(const PromptTemplate from, parse_prompt_template(root, file, draw.metric));
    PromptSet out = draw_prompts(from, draw.at_most, draw.seed);
    if (out.prompts.empty())
        return Error{file + " fills no prompt: its names need different words; add words to \"fill\"."};
    return out;
}

namespace {

/// The share of Student's t within ± √freedom · tan(angle) (Abramowitz and Stegun 26.7.3 and 26.7.4).
double share_within(double angle, int freedom) {
    const double square = std::cos(angle) * std::cos(angle);
    const bool odd = freedom % 2 == 1;
    double term = odd ? std::cos(angle) : 1, sum = 0;
    for (int k = odd ? 3 : 2; k <= freedom; k += 2) {
        sum += term;
        term *= square * (k - 1) / k;
    }
    return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

double student_t975(int freedom) {
    double low = 0, high = std::numbers::pi / 2;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (share_within(middle, freedom) < 0.95 ? low : high) = middle;
    }
    return std::sqrt(double(freedom)) * std::tan(low);
}

MeanInterval mean_interval(std::span<const double> values) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    MeanInterval out{nan, nan, isize(values)};
    if (values.empty()) return out;
    double sum = 0, squares = 0;
    for (const double v : values) sum += v;
    out.mean = sum / double(values.size());
    if (values.size() < 2) return out;
    for (const double v : values) squares += (v - out.mean) * (v - out.mean);
    const double deviation = std::sqrt(squares / double(values.size() - 1));
    out.half = student_t975(out.count - 1) * deviation / std::sqrt(double(values.size()));
    return out;
}

}  // namespace headlight
