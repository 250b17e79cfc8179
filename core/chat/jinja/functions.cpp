// Defines functions, and the methods of dicts, lists, cyclers and loops.
#include <algorithm>

#include "base/quoted.h"
#include "chat/jinja/interpreter.h"

namespace headlight::jinja {

namespace {

constexpr int64_t kLongestRange = 100'000;  // as Jinja's sandbox has it

Value function_range(Interpreter& run, const Given& g) {
    const auto& given = g.call().positional;
    if (given.empty() || given.size() > 3 || !g.call().named.empty())
        fail("calls range without 1 to 3 numbers");
    int64_t numbers[3] = {0, 0, 1}, room = 0;
    for (size_t i = 0; i < given.size(); ++i) {
        if (const auto* missing = given[i].as<Undefined>()) fail(*missing->why);
        const int64_t* number = integer(given[i], room);
        if (!number) fail(std::string("calls range with ") + typed(given[i]));
        numbers[given.size() == 1 ? 1 : i] = *number;
    }
    const auto [begin, end, step] = numbers;
    if (step == 0) fail("calls range with steps of 0");
    std::vector<Value> items;
    for (int64_t at = begin; step > 0 ? at < end : at > end;) {
        if (static_cast<int64_t>(items.size()) == kLongestRange)
            fail("makes a range of more than 100,000 numbers");
        items.emplace_back(at);
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    Value out = make_sequence(run.budget(), std::move(items), SequenceKind::range);
    auto& shown = const_cast<Sequence*>(out.sequence())->shown;
    shown = "range(" + std::to_string(begin) + ", " + std::to_string(end) +
            (step == 1 ? "" : ", " + std::to_string(step)) + ")";
    return out;
}

/// Returns the pairs that dict(…) and namespace(…) take: of a dict or a list of pairs, then by name.
std::vector<std::pair<Value, Value>> pairs_of(Interpreter& run, const Given& g) {
    std::vector<std::pair<Value, Value>> out;
    const auto& given = g.call().positional;
    if (given.size() > 1) fail("calls " + g.of() + " with more than one value");
    if (!given.empty() && given[0].dict()) {
        out = given[0].dict()->items;
    } else if (!given.empty()) {
        for (const Value& item : items_of(run.budget(), given[0])) {
            const std::vector<Value> pair = items_of(run.budget(), item);
            if (pair.size() != 2) fail("calls " + g.of() + " with something other than pairs");
            out.emplace_back(pair[0], pair[1]);
        }
    }
    for (const auto& [name, value] : g.call().named) out.emplace_back(Text(name), value);
    return out;
}

Value function_dict(Interpreter& run, const Given& g) { return make_dict(run.budget(), pairs_of(run, g)); }

Value function_namespace(Interpreter& run, const Given& g) {
    const Value all = make_dict(run.budget(), pairs_of(run, g));
    std::vector<std::pair<std::string, Value>> items;
    for (const auto& [key, value] : all.dict()->items) {
        if (!key.text()) fail("names an attribute of a namespace by something other than text");
        if (key.text()->bytes().starts_with('_'))
            fail("names an attribute of a namespace that begins with _");
        items.emplace_back(key.text()->string(), value);
    }
    return run.new_namespace(std::move(items));
}

Value function_raise(Interpreter& run, const Given& g) {
    fail("refuses these messages: " + in_quotes(run.shown(g[0]).bytes()), "change the messages");
}

Value function_strftime(Interpreter& run, const Given& g) {
    const std::string format = g.text(0).string();
    if (format.size() > 1000) fail("formats the time by more than 1,000 bytes");
    if (format.empty()) return Text();
    std::vector<char> out(64 * format.size() + 64);
    const std::tm now = run.now();
    return Text(std::string(out.data(), std::strftime(out.data(), out.size(), format.c_str(), &now)));
}

Value function_cycler(Interpreter&, const Given& g) {
    if (g.call().positional.empty()) fail("calls cycler with no items");
    auto out = std::make_shared<Callable>();
    out->kind = Callable::Kind::cycler;
    out->items = g.call().positional;
    for (const Value& item : out->items) out->depth = std::max(out->depth, depth_of(item) + 1);
    if (out->depth > kDeepestValue) fail("nests values too deep");
    return CallableRef(std::move(out));
}

Value function_joiner(Interpreter& run, const Given& g) {
    auto out = std::make_shared<Callable>();
    out->kind = Callable::Kind::joiner;
    out->items = {g.has(0) ? run.shown(g[0]) : Text(", ")};
    return CallableRef(std::move(out));
}

constexpr FunctionRow kFunctions[] = {
    {"range", nullptr, 0, function_range},
    {"dict", nullptr, 0, function_dict},
    {"namespace", nullptr, 0, function_namespace},
    {"raise_exception", "message", 1, function_raise},
    {"strftime_now", "format", 1, function_strftime},
    {"cycler", nullptr, 0, function_cycler},
    {"joiner", "sep", 0, function_joiner},
};

Value dict_get(Interpreter& run, const Given& g) {
    const Value* found = g[0].dict()->find(run.budget(), g[1]);
    return found ? *found : (g.has(2) ? g[2] : Value(None{}));
}
/// Makes a view of a dict, which Python prints under its name.
Value view_of(Interpreter& run, std::vector<Value> items, const char* name, const Value& dict) {
    Value out = make_sequence(run.budget(), std::move(items), SequenceKind::view, dict.origin);
    const_cast<Sequence*>(out.sequence())->shown = name;
    return out;
}
Value dict_items(Interpreter& run, const Given& g) {
    std::vector<Value> out;
    for (const auto& [key, value] : g[0].dict()->items)
        out.push_back(make_sequence(run.budget(), {key, value}, SequenceKind::tuple, g[0].origin));
    return view_of(run, std::move(out), "dict_items", g[0]);
}
Value dict_keys(Interpreter& run, const Given& g) {
    return view_of(run, items_of(run.budget(), g[0]), "dict_keys", g[0]);
}
Value dict_values(Interpreter& run, const Given& g) {
    std::vector<Value> out;
    for (const auto& [key, value] : g[0].dict()->items) out.push_back(value);
    return view_of(run, std::move(out), "dict_values", g[0]);
}
Value same_value(Interpreter&, const Given& g) { return g[0]; }

Value list_count(Interpreter& run, const Given& g) {
    int64_t count = 0;
    for (const Value& item : g[0].sequence()->items) count += equal(run.budget(), item, g[1]) ? 1 : 0;
    return count;
}
Value list_index(Interpreter& run, const Given& g) {
    const auto& items = g[0].sequence()->items;
    for (size_t i = 0; i < items.size(); ++i)
        if (equal(run.budget(), items[i], g[1])) return static_cast<int64_t>(i);
    fail("asks for the index of a value that is not in the list");
}

Value cycler_next(Interpreter&, const Given& g) {
    const Callable& cycler = **g[0].as<CallableRef>();
    return cycler.items[cycler.at++ % cycler.items.size()];
}
Value cycler_reset(Interpreter&, const Given& g) {
    (*g[0].as<CallableRef>())->at = 0;
    return None{};
}

Value loop_cycle(Interpreter&, const Given& g) {
    const auto& given = g.call().positional;
    if (given.size() < 2) fail("cycles through no items");
    const Loop& loop = **given[0].as<LoopRef>();
    return given[1 + static_cast<size_t>(std::max<int64_t>(loop.index0, 0)) % (given.size() - 1)];
}
Value loop_changed(Interpreter& run, const Given& g) {
    Loop& loop = **g.call().positional[0].as<LoopRef>();
    std::vector<Value> now(g.call().positional.begin() + 1, g.call().positional.end());
    for (const Value& value : now)  // the loop must not come to hold itself
        if (value.is<LoopRef>() || value.is<CallableRef>() || depth_of(value) >= loop.depth + 50)
            fail("compares in loop.changed() what is no plain value");
    const Value seen = make_sequence(run.budget(), std::move(now), SequenceKind::tuple);
    const bool changed = !loop.last_seen || !equal(run.budget(), *loop.last_seen, seen);
    loop.last_seen = seen;
    return changed;
}

constexpr FunctionRow kOtherMethods[] = {
    {"dict.get", "self key default", 2, dict_get}, {"dict.items", "self", 1, dict_items},
    {"dict.keys", "self", 1, dict_keys},           {"dict.values", "self", 1, dict_values},
    {"dict.copy", "self", 1, same_value},          {"list.copy", "self", 1, same_value},
    {"list.count", "self value", 2, list_count},   {"list.index", "self value", 2, list_index},
    {"tuple.count", "self value", 2, list_count},  {"tuple.index", "self value", 2, list_index},
    {"range.count", "self value", 2, list_count},  {"range.index", "self value", 2, list_index},
    {"method.next", "self", 1, cycler_next},       {"method.reset", "self", 1, cycler_reset},
    {"LoopContext.cycle", nullptr, 0, loop_cycle}, {"LoopContext.changed", nullptr, 0, loop_changed},
};

}  // namespace

const FunctionRow* find_function(std::string_view name) {
    for (const FunctionRow& row : kFunctions)
        if (name == row.name) return &row;
    return nullptr;
}

std::vector<std::string> function_names() {
    std::vector<std::string> out;
    for (const FunctionRow& row : kFunctions) out.emplace_back(row.name);
    return out;
}

Rows other_methods() { return {std::begin(kOtherMethods), std::end(kOtherMethods)}; }

bool is_changing_method(const Value& self, std::string_view name) {
    constexpr std::string_view of_dict[] = {"clear", "pop", "popitem", "setdefault", "update", "fromkeys"};
    constexpr std::string_view of_list[] = {"append", "clear", "pop",    "reverse",
                                            "insert", "sort",  "extend", "remove"};
    const auto among = [&](const auto& names) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    if (self.dict()) return among(of_dict);
    return self.sequence() && self.sequence()->kind == SequenceKind::list && among(of_list);
}

}  // namespace headlight::jinja
