#include "analysis/corpus/prompts.h"

#include <cmath>
#include <limits>
#include <set>

#include "base/cast.h"
#include "base/draws.h"
#include "base/quoted.h"

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

std::set<std::string> names_in(const PromptTemplate& from) {
    std::set<std::string> out;
    for (const std::string* text : {&from.text, &from.corrupted, &from.metric})
        for_parts(*text, [&](const std::string&, const std::string& name) {
            if (!name.empty()) out.insert(name);
        });
    return out;
}

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
    const std::set<std::string> used = names_in(from);
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

Result<PromptTemplate> parse_prompt_template(const Json& root, const std::string& file) {
    PromptTemplate out;
    if (!root.is_object()) return wrong(file, "it is not an object");
    for (const auto& [key, text] :
         {std::pair{"text", &out.text}, {"corrupted", &out.corrupted}, {"metric", &out.metric}})
        if (root.contains(key)) {
            if (!root[key].is_string()) return wrong(file, in_quotes(key) + " is not a text");
            *text = root[key].get<std::string>();
        }
    if (out.text.empty()) return wrong(file, "\"text\" is missing");
    for (const auto& [key, value] : root.items())
        if (key != "text" && key != "corrupted" && key != "metric" && key != "fill")
            return wrong(file, in_quotes(shortened(key)) + " is not known");
    TRY_STATUS(read_fill(root.value("fill", Json::object()), file, out));
    TRY_STATUS(check_names(out, file));
    return out;
}

std::vector<FilledPrompt> fill_prompts(const PromptTemplate& from, int count, uint32_t seed) {
    constexpr double kListed = 200'000;  // combinations that are listed; of more, draws are taken
    std::vector<FilledPrompt> out;
    std::set<std::string> seen;
    const auto add = [&](const std::vector<size_t>& choice) {
        const auto values = values_of(from, choice);
        FilledPrompt prompt{filled(from.text, values), filled(from.corrupted, values),
                            filled(from.metric, values), values};
        if (are_different(values) && seen.insert(prompt.text + "\n" + prompt.corrupted).second)
            out.push_back(std::move(prompt));
    };
    Draws draws(seed);
    if (combinations(from) <= kListed) {
        auto all = all_choices(from);
        std::vector<std::vector<size_t>> different;
        for (const auto& choice : all)
            if (are_different(values_of(from, choice))) different.push_back(choice);
        if (isize(different) > count)
            for (size_t i = different.size(); i > 1; --i)
                std::swap(different[i - 1], different[size_t(draws.below(narrow<int>(i)))]);
        for (const auto& choice : different)
            if (isize(out) < count) add(choice);
        return out;
    }
    for (int tries = 0; isize(out) < count && tries < 100 * count; ++tries) {
        std::vector<size_t> choice;
        for (const auto& [name, words] : from.fill) choice.push_back(size_t(draws.below(isize(words))));
        add(choice);
    }
    return out;
}

double student_t975(int freedom) {
    // Exact for 1 and 2, else the expansion of Hill (1970) about the normal quantile; error < 0.01 from 3 on.
    if (freedom == 1) return 12.706205;
    if (freedom == 2) return 4.302653;
    const double z = 1.959964, v = freedom;
    const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v) +
           (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * v * v * v * v);
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
