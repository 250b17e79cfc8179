#include "chat/jinja/value.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "chat/jinja/loop.h"

namespace headlight::jinja {

namespace {

constexpr size_t kIndexedFrom = 16;  // keys

int deeper(int depth) {
    if (depth >= kDeepestValue)
        fail("nests values more than " + std::to_string(kDeepestValue) + " levels deep");
    return depth + 1;
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
    if (!index.empty()) {
        const auto row = index.find(std::string(key));
        return row == index.end() ? nullptr : &items[row->second].second;
    }
    for (const auto& [name, value] : items)
        if (name.text() && name.text()->bytes() == key) return &value;
    return nullptr;
}

const Value* Dict::find(Budget& budget, const Value& key) const {
    if (key.text()) return find(key.text()->bytes());
    for (const auto& [name, value] : items)
        if (!name.text() && equal(budget, name, key)) return &value;
    return nullptr;
}

Value* Namespace::find(std::string_view name) {
    for (auto& [key, value] : items)
        if (key == name) return &value;
    return nullptr;
}

int depth_of(const Value& value) {
    if (const Sequence* list = value.sequence()) return list->depth;
    if (const Dict* dict = value.dict()) return dict->depth;
    if (const auto* callable = value.as<CallableRef>()) return (*callable)->depth;
    if (const auto* loop = value.as<LoopRef>()) return (*loop)->depth;
    return 0;
}

Value make_sequence(Budget& budget, std::vector<Value> items, SequenceKind kind, Origin origin) {
    auto out = std::make_shared<Sequence>();
    out->counted = Counted(budget);
    out->counted.add(64 + items.size() * sizeof(Value));
    budget.step(static_cast<int64_t>(items.size()));
    int depth = 0;
    for (const Value& item : items) depth = std::max(depth, depth_of(item));
    out->depth = deeper(depth);
    out->kind = kind;
    out->items = std::move(items);
    return {SequenceRef(std::move(out)), origin};
}

Value make_dict(Budget& budget, std::vector<std::pair<Value, Value>> items, Origin origin) {
    auto out = std::make_shared<Dict>();
    out->counted = Counted(budget);
    out->counted.add(64 + items.size() * 2 * sizeof(Value));
    budget.step(static_cast<int64_t>(items.size()));
    int depth = 0;
    for (auto& [key, value] : items) {
        if (key.is<SequenceRef>() ? key.sequence()->kind != SequenceKind::tuple : key.is<DictRef>())
            fail(std::string("uses ") + typed(key) + " as a key");
        depth = std::max({depth, depth_of(key), depth_of(value)});
        if (auto* known = const_cast<Value*>(out->find(budget, key))) {
            *known = std::move(value);
            continue;
        }
        budget.step(static_cast<int64_t>(std::min(out->items.size(), kIndexedFrom)));
        if (key.text() && !out->index.empty()) out->index[key.text()->string()] = out->items.size();
        out->items.emplace_back(std::move(key), std::move(value));
        if (out->items.size() == kIndexedFrom)
            for (size_t i = 0; i < kIndexedFrom; ++i)
                if (out->items[i].first.text()) out->index[out->items[i].first.text()->string()] = i;
    }
    out->depth = deeper(depth);
    return {DictRef(std::move(out)), origin};
}

Value undefined(std::string why) { return Undefined{std::make_shared<const std::string>(std::move(why))}; }

Value text_value(std::string bytes, Origin origin) { return Text(std::move(bytes), origin); }

bool truth(const Value& value) {
    struct {
        bool operator()(const Undefined&) const { return false; }
        bool operator()(None) const { return false; }
        bool operator()(bool v) const { return v; }
        bool operator()(int64_t v) const { return v != 0; }
        bool operator()(double v) const { return v != 0; }
        bool operator()(const Text& v) const { return !v.empty(); }
        bool operator()(const SequenceRef& v) const {
            return v->kind == SequenceKind::iterator || !v->items.empty();
        }
        bool operator()(const DictRef& v) const { return !v->items.empty(); }
        bool operator()(const Namespace*) const { return true; }
        bool operator()(const CallableRef&) const { return true; }
        bool operator()(const LoopRef&) const { return true; }
    } visitor;
    return std::visit(visitor, value.data);
}

const char* type_name(const Value& value) {
    constexpr const char* names[] = {"Undefined", "NoneType", "bool",      "int",    "float",      "str",
                                     "list",      "dict",     "Namespace", "method", "LoopContext"};
    if (const Sequence* list = value.sequence()) {
        constexpr const char* kinds[] = {"list", "tuple", "dict_items", "range", "generator"};
        return kinds[static_cast<size_t>(list->kind)];
    }
    return names[value.data.index()];
}

std::string typed(const Value& value) {
    if (value.is<None>()) return "None";
    if (value.is<Undefined>()) return "an undefined value";
    const std::string name = type_name(value);
    return (name[0] == 'i' ? "an " : "a ") + name;
}

const int64_t* integer(const Value& value, int64_t& room) {
    if (const bool* flag = value.as<bool>()) room = *flag;
    return value.is<bool>() ? &room : value.as<int64_t>();
}

bool is_number(const Value& value) { return value.is<bool>() || value.is<int64_t>() || value.is<double>(); }

double number(const Value& value) {
    int64_t room = 0;
    if (const int64_t* whole = integer(value, room)) return static_cast<double>(*whole);
    return *value.as<double>();
}

namespace {

bool both_sequences_equal(Budget& budget, const Sequence& a, const Sequence& b) {
    if (&a == &b) return true;
    const bool comparable = a.kind == b.kind && a.kind != SequenceKind::iterator;
    if (!comparable || a.items.size() != b.items.size()) return false;
    for (size_t i = 0; i < a.items.size(); ++i)
        if (!equal(budget, a.items[i], b.items[i])) return false;
    return true;
}

bool both_dicts_equal(Budget& budget, const Dict& a, const Dict& b) {
    if (&a == &b) return true;
    if (a.items.size() != b.items.size()) return false;
    for (const auto& [key, value] : a.items) {
        const Value* other = b.find(budget, key);
        if (!other || !equal(budget, value, *other)) return false;
    }
    return true;
}

}  // namespace

bool equal(Budget& budget, const Value& a, const Value& b) {
    budget.step();
    if (is_number(a) && is_number(b)) {
        int64_t left = 0, right = 0;
        const int64_t *x = integer(a, left), *y = integer(b, right);
        return x && y ? *x == *y : number(a) == number(b);
    }
    if (a.data.index() != b.data.index()) return false;
    if (a.text()) return a.text()->bytes() == b.text()->bytes();
    if (a.sequence()) return both_sequences_equal(budget, *a.sequence(), *b.sequence());
    if (a.dict()) return both_dicts_equal(budget, *a.dict(), *b.dict());
    if (const auto* space = a.as<Namespace*>()) return *space == *b.as<Namespace*>();
    if (const auto* callable = a.as<CallableRef>()) return *callable == *b.as<CallableRef>();
    if (const auto* loop = a.as<LoopRef>()) return *loop == *b.as<LoopRef>();
    return true;  // both undefined, or both None
}

int compare(Budget& budget, const Value& a, const Value& b) {
    budget.step();
    const auto sign = [](auto x, auto y) { return x < y ? -1 : (y < x ? 1 : 0); };
    if (is_number(a) && is_number(b)) {
        int64_t left = 0, right = 0;
        const int64_t *x = integer(a, left), *y = integer(b, right);
        return x && y ? sign(*x, *y) : sign(number(a), number(b));
    }
    if (a.text() && b.text()) return sign(a.text()->bytes(), b.text()->bytes());
    const Sequence *list = a.sequence(), *other = b.sequence();
    const bool ordered = list && other && list->kind == other->kind && list->kind <= SequenceKind::tuple;
    for (const Value* v : {&a, &b})
        if (const auto* missing = v->as<Undefined>()) fail(*missing->why);
    if (!ordered)
        fail(std::string("compares ") + typed(a) + " with a " + type_name(b) + ", which have no order");
    for (size_t i = 0; i < std::min(list->items.size(), other->items.size()); ++i)
        if (!equal(budget, list->items[i], other->items[i]))
            return compare(budget, list->items[i], other->items[i]);
    return sign(list->items.size(), other->items.size());
}

bool contains(Budget& budget, const Value& container, const Value& item) {
    if (const Text* text = container.text()) {
        if (!item.text()) fail(std::string("looks for ") + typed(item) + " in a text");
        budget.step(static_cast<int64_t>(text->bytes().size() / 64));
        return text->bytes().find(item.text()->bytes()) != std::string_view::npos;
    }
    if (const Dict* dict = container.dict()) return dict->find(budget, item) != nullptr;
    if (const Sequence* list = container.sequence(); list && list->kind != SequenceKind::iterator) {
        for (const Value& candidate : list->items)
            if (equal(budget, candidate, item)) return true;
        return false;
    }
    for (const Value& candidate : items_of(budget, container))
        if (equal(budget, candidate, item)) return true;
    return false;
}

std::vector<Value> items_of(Budget& budget, const Value& value) {
    std::vector<Value> out;
    if (value.is<Undefined>()) return out;
    if (const Sequence* list = value.sequence()) {
        budget.step(static_cast<int64_t>(list->items.size()));
        if (list->kind != SequenceKind::iterator) return list->items;
        out.assign(list->items.begin() + static_cast<std::ptrdiff_t>(list->taken), list->items.end());
        list->taken = list->items.size();
    } else if (const Dict* dict = value.dict()) {
        budget.step(static_cast<int64_t>(dict->items.size()));
        for (const auto& [key, ignored] : dict->items) out.push_back(key);
    } else if (const Text* text = value.text()) {
        budget.step(static_cast<int64_t>(text->bytes().size()));
        for (size_t at = 0; at < text->bytes().size();) {
            const auto end = at + static_cast<size_t>(decode_utf8(text->bytes(), at).length);
            out.emplace_back(slice(budget, *text, {at, end}));
            at = end;
        }
    } else {
        fail(std::string("iterates over ") + typed(value));
    }
    return out;
}

size_t length_of(const Value& value) {
    if (value.is<Undefined>()) return 0;
    if (value.text()) return value.text()->length();
    if (value.dict()) return value.dict()->items.size();
    if (const auto* loop = value.as<LoopRef>()) return (*loop)->count();
    const Sequence* list = value.sequence();
    if (!list || list->kind == SequenceKind::iterator)
        fail(std::string("asks for the length of ") + typed(value));
    return list->items.size();
}

}  // namespace headlight::jinja
