// Defines the filters of lists, dicts and any value.
#include <algorithm>
#include <charconv>

#include "base/quoted.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/shown.h"
#include "chat/jinja/text_methods.h"

namespace headlight::jinja {

namespace {

/// Looks up "a.b.0" in a value, part by part; a missing part becomes `fallback`, if that is given.
Value looked_up(Interpreter& run, Value value, const Value& path, const Value* fallback = nullptr) {
    if (path.is<None>()) return value;
    if (!path.text()) return run.item(value, path);
    const std::string_view all = path.text()->bytes();
    for (size_t begin = 0; begin <= all.size();) {
        const size_t end = std::min(all.find('.', begin), all.size());
        const std::string_view part = all.substr(begin, end - begin);
        int64_t index = 0;
        const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
        const bool number = !part.empty() && part[0] != '-' && read.ptr == part.data() + part.size();
        value = run.item(value, number ? Value(index) : Value(Text(std::string(part))));
        if (fallback && value.is<Undefined>()) value = *fallback;
        begin = end + 1;
    }
    return value;
}

/// Makes texts lower case, as sorting does unless it is case-sensitive.
Value without_case(Interpreter& run, const Value& value) {
    return value.text() ? Value(in_case(run, *value.text(), Case::lower)) : value;
}

const Value* named(const Call& call, std::string_view name) {
    for (const auto& [key, value] : call.named)
        if (key == name) return &value;
    return nullptr;
}

Value iterator(Interpreter& run, std::vector<Value> items) {
    return make_sequence(run.budget(), std::move(items), SequenceKind::iterator);
}

Value filter_default(Interpreter&, const Given& g) {
    const bool missing = g[0].is<Undefined>() || (g.flag(2) && !truth(g[0]));
    return !missing ? g[0] : (g.has(1) ? g[1] : Value(Text()));
}

Value filter_length(Interpreter&, const Given& g) { return static_cast<int64_t>(length_of(g[0])); }

Value filter_list(Interpreter& run, const Given& g) {
    return make_sequence(run.budget(), items_of(run.budget(), g[0]), SequenceKind::list, g[0].origin);
}

Value filter_first(Interpreter& run, const Given& g) {
    if (const Sequence* list = g[0].sequence(); list && list->taken < list->items.size())
        return list->items[list->kind == SequenceKind::iterator ? list->taken++ : 0];
    std::vector<Value> items = items_of(run.budget(), g[0]);
    return items.empty() ? undefined("uses the first item of an empty list") : items[0];
}

Value filter_last(Interpreter& run, const Given& g) {
    const Sequence* list = g[0].sequence();
    if (list && list->kind == SequenceKind::iterator) fail("takes the last item of a generator");
    if (list && !list->items.empty()) return list->items.back();
    std::vector<Value> items = items_of(run.budget(), g[0]);
    return items.empty() ? undefined("uses the last item of an empty list") : items.back();
}

Value filter_join(Interpreter& run, const Given& g) {
    TextBuilder out(run.budget());
    const Text between = g.has(1) ? run.shown(g[1]) : Text();
    bool first = true;
    for (const Value& item : items_of(run.budget(), g[0])) {
        if (!std::exchange(first, false)) out.add(between);
        out.add(run.shown(g.has(2) ? looked_up(run, item, g[2]) : item));
    }
    return out.finish();
}

Value filter_items(Interpreter& run, const Given& g) {
    std::vector<Value> out;
    if (!g[0].dict() && !g[0].is<Undefined>()) fail(std::string("takes the items of ") + typed(g[0]));
    if (g[0].dict())
        for (const auto& [key, value] : g[0].dict()->items)
            out.push_back(make_sequence(run.budget(), {key, value}, SequenceKind::tuple));
    return iterator(run, std::move(out));
}

Value filter_reverse(Interpreter& run, const Given& g) {
    std::vector<Value> items = items_of(run.budget(), g[0]);
    std::reverse(items.begin(), items.end());
    if (!g[0].text()) return iterator(run, std::move(items));
    TextBuilder out(run.budget());
    for (const Value& item : items) out.add(*item.text());
    return out.finish();
}

/// Sorts rows of keys and items by their keys, stably.
std::vector<Value> sorted_by(Interpreter& run, std::vector<std::pair<Value, Value>> rows, bool reverse) {
    run.budget().step(static_cast<int64_t>(rows.size()) * 4);
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
        const int order = compare(run.budget(), a.first, b.first);
        return reverse ? order > 0 : order < 0;
    });
    std::vector<Value> out;
    for (auto& [key, item] : rows) out.push_back(std::move(item));
    return out;
}

Value filter_dictsort(Interpreter& run, const Given& g) {
    if (!g[0].dict()) fail(std::string("sorts ") + typed(g[0]) + " as a dict");
    const std::string by = g.has(2) ? g.text(2).string() : "key";
    if (by != "key" && by != "value") fail("sorts a dict by neither key nor value");
    std::vector<std::pair<Value, Value>> rows;
    for (const auto& [key, value] : g[0].dict()->items) {
        const Value& chosen = by == "key" ? key : value;
        rows.emplace_back(g.flag(1) ? chosen : without_case(run, chosen),
                          make_sequence(run.budget(), {key, value}, SequenceKind::tuple));
    }
    return make_sequence(run.budget(), sorted_by(run, std::move(rows), g.flag(3)));
}

/// Returns the values of "a,b" of an item, as one key.
Value sort_key(Interpreter& run, const Value& item, const Value* attributes, bool sensitive) {
    std::vector<Value> parts;
    const auto add = [&](const Value& path) {
        Value part = looked_up(run, item, path);
        parts.push_back(sensitive ? part : without_case(run, part));
    };
    if (!attributes || !attributes->text()) {
        add(attributes ? *attributes : Value(None{}));
    } else {
        const std::string_view all = attributes->text()->bytes();
        for (size_t begin = 0; begin <= all.size();) {
            const size_t end = std::min(all.find(',', begin), all.size());
            add(Text(std::string(all.substr(begin, end - begin))));
            begin = end + 1;
        }
    }
    return make_sequence(run.budget(), std::move(parts));
}

Value filter_sort(Interpreter& run, const Given& g) {
    std::vector<std::pair<Value, Value>> rows;
    for (Value& item : items_of(run.budget(), g[0]))
        rows.emplace_back(sort_key(run, item, g.has(3) ? &g[3] : nullptr, g.flag(2)), std::move(item));
    return make_sequence(run.budget(), sorted_by(run, std::move(rows), g.flag(1)));
}

/// Returns what an item is compared by: an attribute, or itself, without case unless that matters.
Value own_key(Interpreter& run, const Given& g, const Value& item, size_t attribute, bool sensitive) {
    const Value key = g.has(attribute) ? looked_up(run, item, g[attribute]) : item;
    return sensitive ? key : without_case(run, key);
}

Value filter_unique(Interpreter& run, const Given& g) {
    std::vector<Value> out, seen;
    for (Value& item : items_of(run.budget(), g[0])) {
        Value key = own_key(run, g, item, 2, g.flag(1));
        if (key.dict() || (key.sequence() && key.sequence()->kind == SequenceKind::list))
            fail(std::string("looks for unique items among ") + typed(key));
        const bool known = std::any_of(seen.begin(), seen.end(),
                                       [&](const Value& s) { return equal(run.budget(), s, key); });
        if (known) continue;
        seen.push_back(std::move(key));
        out.push_back(std::move(item));
    }
    return iterator(run, std::move(out));
}

Value extreme(Interpreter& run, const Given& g, int sign) {
    const std::vector<Value> items = items_of(run.budget(), g[0]);
    if (items.empty()) return undefined("uses the least or greatest item of an empty list");
    const Value* best = &items[0];
    Value key = own_key(run, g, *best, 2, g.flag(1));
    for (const Value& item : items) {
        Value candidate = own_key(run, g, item, 2, g.flag(1));
        if (compare(run.budget(), candidate, key) * sign <= 0) continue;
        best = &item;
        key = std::move(candidate);
    }
    return *best;
}
Value filter_min(Interpreter& run, const Given& g) { return extreme(run, g, -1); }
Value filter_max(Interpreter& run, const Given& g) { return extreme(run, g, 1); }

Value filter_sum(Interpreter& run, const Given& g) {
    Value out = g.has(2) ? g[2] : Value(int64_t{0});
    if (out.text()) fail("sums texts; join them");
    for (const Value& item : items_of(run.budget(), g[0]))
        out = arithmetic(run, "+", out, g.has(1) ? looked_up(run, item, g[1]) : item);
    return out;
}

Value filter_map(Interpreter& run, const Given& g) {
    const Call& call = g.call();
    if (call.positional.empty()) fail("maps nothing");
    std::vector<Value> out;
    const Value* attribute = call.positional.size() == 1 ? named(call, "attribute") : nullptr;
    const Value* fallback = named(call, "default");
    if (!attribute && (call.positional.size() < 2 || !call.positional[1].text()))
        fail("maps without the name of a filter");
    for (const Value& item : items_of(run.budget(), call.positional[0])) {
        if (attribute) {
            out.push_back(looked_up(run, item, *attribute, fallback));
            continue;
        }
        Call inner = call;
        inner.positional.erase(inner.positional.begin());
        const std::string filter = inner.positional[0].text()->string();
        inner.positional[0] = item;
        out.push_back(run.filter(filter, inner));
    }
    return iterator(run, std::move(out));
}

/// Keeps the items, or those of whose attribute, a test has the result `wanted`.
Value chosen(Interpreter& run, const Given& g, bool by_attribute, bool wanted) {
    const Call& call = g.call();
    const size_t off = by_attribute ? 2 : 1;
    if (call.positional.size() < off) fail("selects by no attribute");
    std::vector<Value> out;
    if (call.positional[0].is<None>()) return iterator(run, {});
    for (Value& item : items_of(run.budget(), call.positional[0])) {
        const Value subject = by_attribute ? looked_up(run, item, call.positional[1]) : item;
        bool holds = false;
        if (call.positional.size() > off) {
            if (!call.positional[off].text()) fail("selects by a test without a name");
            Call inner{{subject}, call.named};
            inner.positional.insert(inner.positional.end(),
                                    call.positional.begin() + static_cast<std::ptrdiff_t>(off) + 1,
                                    call.positional.end());
            holds = run.test(call.positional[off].text()->string(), inner);
        } else {
            holds = truth(subject);
        }
        if (holds == wanted) out.push_back(std::move(item));
    }
    return iterator(run, std::move(out));
}
Value filter_select(Interpreter& run, const Given& g) { return chosen(run, g, false, true); }
Value filter_reject(Interpreter& run, const Given& g) { return chosen(run, g, false, false); }
Value filter_selectattr(Interpreter& run, const Given& g) { return chosen(run, g, true, true); }
Value filter_rejectattr(Interpreter& run, const Given& g) { return chosen(run, g, true, false); }

Value filter_attr(Interpreter& run, const Given& g) {
    const std::string name = g.text(1).string();
    if (g[0].dict() && !find_method(g[0], name))
        return undefined("uses " + in_quotes(name) + ", which a dict lacks");
    return run.attribute(g[0], name);
}

Value filter_batch(Interpreter& run, const Given& g) {
    const int64_t size = g.whole(1, 0);
    if (size <= 0) fail("makes batches of no items");
    std::vector<Value> out, batch;
    for (Value& item : items_of(run.budget(), g[0])) {
        if (static_cast<int64_t>(batch.size()) == size)
            out.push_back(make_sequence(run.budget(), std::exchange(batch, {})));
        batch.push_back(std::move(item));
    }
    if (batch.empty()) return iterator(run, std::move(out));
    if (g.has(2) && !g[2].is<None>()) {
        run.budget().step(size);
        run.budget().hold(static_cast<size_t>(size) * sizeof(Value));
        batch.resize(static_cast<size_t>(size), g[2]);
    }
    out.push_back(make_sequence(run.budget(), std::move(batch)));
    return iterator(run, std::move(out));
}

Value filter_groupby(Interpreter& run, const Given& g) {
    const bool sensitive = g.flag(3);
    std::vector<std::pair<Value, Value>> rows;
    const Value* fallback = g.has(2) ? &g[2] : nullptr;
    const auto key_of = [&](const Value& item) { return looked_up(run, item, g[1], fallback); };
    const auto compared = [&](const Value& key) { return sensitive ? key : without_case(run, key); };
    for (Value& item : items_of(run.budget(), g[0])) {
        Value key = compared(key_of(item));
        rows.emplace_back(std::move(key), std::move(item));
    }
    std::vector<Value> out, group;
    const std::vector<Value> items = sorted_by(run, std::move(rows), false);
    for (size_t i = 0; i < items.size(); ++i) {
        group.push_back(items[i]);
        if (i + 1 < items.size() &&
            equal(run.budget(), compared(key_of(items[i])), compared(key_of(items[i + 1]))))
            continue;
        Value key = key_of(group[0]);
        Value list = make_sequence(run.budget(), std::exchange(group, {}));
        out.push_back(make_sequence(run.budget(), {std::move(key), std::move(list)}, SequenceKind::tuple));
    }
    return make_sequence(run.budget(), std::move(out));
}

constexpr FilterRow kListFilters[] = {
    {"attr", "obj name", 2, filter_attr},
    {"batch", "value linecount fill_with", 2, filter_batch},
    {"count", "value", 1, filter_length},
    {"d", "value default_value boolean", 1, filter_default},
    {"default", "value default_value boolean", 1, filter_default},
    {"dictsort", "value case_sensitive by reverse", 1, filter_dictsort},
    {"first", "seq", 1, filter_first},
    {"groupby", "value attribute default case_sensitive", 2, filter_groupby},
    {"items", "value", 1, filter_items},
    {"join", "value d attribute", 1, filter_join},
    {"last", "seq", 1, filter_last},
    {"length", "value", 1, filter_length},
    {"list", "value", 1, filter_list},
    {"map", nullptr, 0, filter_map},
    {"max", "value case_sensitive attribute", 1, filter_max},
    {"min", "value case_sensitive attribute", 1, filter_min},
    {"reject", nullptr, 0, filter_reject},
    {"rejectattr", nullptr, 0, filter_rejectattr},
    {"reverse", "value", 1, filter_reverse},
    {"select", nullptr, 0, filter_select},
    {"selectattr", nullptr, 0, filter_selectattr},
    {"sort", "value reverse case_sensitive attribute", 1, filter_sort},
    {"sum", "iterable attribute start", 1, filter_sum},
    {"unique", "value case_sensitive attribute", 1, filter_unique},
};

}  // namespace

Rows list_filters() { return {std::begin(kListFilters), std::end(kListFilters)}; }

}  // namespace headlight::jinja
