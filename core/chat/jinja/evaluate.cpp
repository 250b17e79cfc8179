// Evaluates expressions.
#include <algorithm>

#include "base/quoted.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/shown.h"

namespace headlight::jinja {

Value Interpreter::evaluate(const Expression& e) {
    const Level level(*this);
    budget_.step();
    switch (e.kind) {
        case ExpressionKind::constant:
            return e.constant;
        case ExpressionKind::name:
            return lookup(e);
        case ExpressionKind::list:
        case ExpressionKind::tuple:
            return evaluate_list(e);
        case ExpressionKind::dict:
            return evaluate_dict(e);
        case ExpressionKind::slice:
            return evaluate_slice(e);
        case ExpressionKind::join:
            return evaluate_join(e);
        case ExpressionKind::comparison:
            return evaluate_comparison(e);
        case ExpressionKind::conditional:
            return evaluate_conditional(e);
        case ExpressionKind::filter:
            return evaluate_filter(e);
        case ExpressionKind::call:
            return evaluate_call(e);
        case ExpressionKind::captured:
            return *captured_;
        default:
            return evaluate_operation(e);
    }
}

/// Evaluates what applies to one or two values: logic, a test, an attribute, an item, arithmetic.
Value Interpreter::evaluate_operation(const Expression& e) {
    Value first = evaluate(*e.parts[0]);
    const bool either = e.kind == ExpressionKind::disjunction;
    if (e.kind == ExpressionKind::negation) return !truth(first);
    if (either || e.kind == ExpressionKind::conjunction)
        return truth(first) == either ? first : evaluate(*e.parts[1]);
    if (e.kind == ExpressionKind::test) {
        Call given = evaluate_arguments(e.arguments);
        given.positional.insert(given.positional.begin(), std::move(first));
        line_ = e.line;
        return test(e.name, given);
    }
    if (e.kind == ExpressionKind::attribute || e.kind == ExpressionKind::sign) {
        line_ = e.line;
        return e.kind == ExpressionKind::sign ? signed_value(e.name, first) : attribute(first, e.name);
    }
    const Value second = evaluate(*e.parts[1]);
    line_ = e.line;
    return e.kind == ExpressionKind::item ? item(first, second) : arithmetic(*this, e.name, first, second);
}

Value Interpreter::lookup(const Expression& e) {
    for (const Scope* scope = scope_.get(); scope; scope = scope->parent.get())
        for (const auto& [id, value] : scope->names)
            if (id == e.id) return value;
    return undefined("uses " + in_quotes(e.name) + ", which is undefined");
}

Value Interpreter::evaluate_list(const Expression& e) {
    std::vector<Value> items;
    for (const auto& part : e.parts) items.push_back(evaluate(*part));
    return make_sequence(budget_, std::move(items),
                         e.kind == ExpressionKind::list ? SequenceKind::list : SequenceKind::tuple);
}

Value Interpreter::evaluate_dict(const Expression& e) {
    std::vector<std::pair<Value, Value>> items;
    for (size_t i = 0; i < e.parts.size(); i += 2) {
        Value key = evaluate(*e.parts[i]);
        items.emplace_back(std::move(key), evaluate(*e.parts[i + 1]));
    }
    return make_dict(budget_, std::move(items));
}

Value Interpreter::evaluate_slice(const Expression& e) {
    Value parts[4];
    const Value* given[4] = {};
    for (size_t i = 0; i < 4; ++i)
        if (e.parts[i]) {
            parts[i] = evaluate(*e.parts[i]);
            given[i] = parts[i].is<None>() ? nullptr : &parts[i];
        }
    line_ = e.line;
    return sliced(*this, parts[0], given[1], given[2], given[3]);
}

Value Interpreter::evaluate_join(const Expression& e) {
    TextBuilder out(budget_);
    for (const auto& part : e.parts) out.add(jinja_shown(evaluate(*part)));
    return out.finish();
}

Value Interpreter::evaluate_comparison(const Expression& e) {
    Value left = evaluate(*e.parts[0]);
    for (size_t i = 0; i < e.names.size(); ++i) {
        Value right = evaluate(*e.parts[i + 1]);
        const std::string& sign = e.names[i];
        line_ = e.line;
        bool holds = false;
        if (sign == "==" || sign == "!=")
            holds = equal(budget_, left, right) == (sign == "==");
        else if (sign == "in" || sign == "not in")
            holds = contains(budget_, right, left) == (sign == "in");
        else {
            const int order = compare(budget_, left, right);
            holds = sign == "<" ? order < 0
                                : (sign == "<=" ? order <= 0 : (sign == ">" ? order > 0 : order >= 0));
        }
        if (!holds) return false;
        left = std::move(right);
    }
    return true;
}

Value Interpreter::evaluate_conditional(const Expression& e) {
    if (truth(evaluate(*e.parts[0]))) return evaluate(*e.parts[1]);
    if (e.parts[2]) return evaluate(*e.parts[2]);
    return undefined("uses an inline if whose condition is false and that has no else");
}

Call Interpreter::evaluate_arguments(const Arguments& arguments) {
    Call out;
    for (const auto& argument : arguments.positional) out.positional.push_back(evaluate(*argument));
    for (const auto& [name, argument] : arguments.named) out.named.emplace_back(name, evaluate(*argument));
    if (arguments.rest)
        for (Value& item : items_of(budget_, evaluate(*arguments.rest)))
            out.positional.push_back(std::move(item));
    if (!arguments.rest_named) return out;
    const Value rest = evaluate(*arguments.rest_named);
    if (!rest.dict()) fail(std::string("gives ") + typed(rest) + " by **, which takes a dict");
    for (const auto& [key, value] : rest.dict()->items) {
        if (!key.text()) fail("gives by ** a name that is not a text");
        out.named.emplace_back(key.text()->string(), value);
    }
    return out;
}

Value Interpreter::evaluate_filter(const Expression& e) {
    const Value first = evaluate(*e.parts[0]);
    Call given = evaluate_arguments(e.arguments);
    given.positional.insert(given.positional.begin(), first);
    line_ = e.line;
    return filter(e.name, given);
}

Value Interpreter::evaluate_call(const Expression& e) {
    const Value callable = evaluate(*e.parts[0]);
    const Call given = evaluate_arguments(e.arguments);
    line_ = e.line;
    return call(callable, given);
}

namespace {

/// Returns an attribute of the variable `loop`.
Value loop_attribute(const LoopRef& ref, const std::string& name) {
    Loop& loop = *ref;
    const auto count = [&] { return static_cast<int64_t>(loop.count()); };
    if (name == "index") return loop.index0 + 1;
    if (name == "index0") return loop.index0;
    if (name == "first") return loop.index0 == 0;
    if (name == "last") return !loop.peek().has_value();
    if (name == "length") return count();
    if (name == "revindex") return count() - loop.index0;
    if (name == "revindex0") return count() - loop.index0 - 1;
    if (name == "depth") return int64_t{loop.depth0} + 1;
    if (name == "depth0") return int64_t{loop.depth0};
    if (name == "previtem") return loop.before ? *loop.before : undefined("uses the item before the first");
    if (name == "nextitem") return loop.peek() ? *loop.peek() : undefined("uses the item after the last");
    return {};
}

bool is_loop_attribute(const std::string& name) {
    constexpr std::string_view names[] = {"index", "index0", "first",    "last",     "length",   "revindex",
                                          "depth", "depth0", "previtem", "nextitem", "revindex0"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Value lacking(const Value& value, const std::string& name) {
    return undefined("uses " + in_quotes(name) + ", which " + typed(value) + " there lacks");
}

/// Returns the place of an index within `size` items, or −1.
int64_t place_of(int64_t index, size_t size) {
    const auto count = static_cast<int64_t>(size);
    if (index < 0) index += count;
    return index >= 0 && index < count ? index : -1;
}

}  // namespace

Value Interpreter::attribute(const Value& value, const std::string& name) {
    if (const auto* missing = value.as<Undefined>()) fail(*missing->why);
    if (const auto* space = value.as<Namespace*>()) {
        const Value* found = (*space)->find(name);
        return found ? *found : lacking(value, name);
    }
    if (const auto* loop = value.as<LoopRef>(); loop && is_loop_attribute(name))
        return loop_attribute(*loop, name);
    if (is_changing_method(value, name))
        return undefined("uses " + in_quotes(name) + ", which changes a value: templates may not");
    if (find_method(value, name)) {
        auto method = std::make_shared<Callable>();
        method->kind = Callable::Kind::method;
        method->name = name;
        method->self = value;
        method->depth = depth_of(value) + 1;
        return CallableRef(std::move(method));
    }
    const Dict* dict = value.dict();
    const Value* found = dict ? dict->find(name) : nullptr;
    if (found) return *found;
    const auto* callable = value.as<CallableRef>();
    if (callable && name == "name" && (*callable)->kind == Callable::Kind::macro)
        return Text((*callable)->name);
    return lacking(value, name);
}

Value Interpreter::item(const Value& value, const Value& key) {
    if (const auto* missing = value.as<Undefined>()) fail(*missing->why);
    if (const Dict* dict = value.dict())
        if (const Value* found = dict->find(budget_, key)) return *found;
    int64_t room = 0;
    if (const int64_t* index = integer(key, room)) {
        const Sequence* list = value.sequence();
        if (list && list->kind != SequenceKind::iterator && list->kind != SequenceKind::view)
            if (const int64_t at = place_of(*index, list->items.size()); at >= 0)
                return list->items[static_cast<size_t>(at)];
        if (const Text* text = value.text())
            if (const int64_t at = place_of(*index, text->length()); at >= 0) {
                budget_.step(static_cast<int64_t>(text->bytes().size() / 256));
                const size_t begin = text->byte_of(static_cast<size_t>(at));
                return slice(budget_, *text, {begin, text->byte_of(static_cast<size_t>(at) + 1)});
            }
        return undefined("uses element " + std::to_string(*index) + ", which " + typed(value) +
                         " there lacks");
    }
    const Text* name = key.text();
    if (name && !value.dict()) return attribute(value, name->string());
    if (name && find_method(value, name->bytes())) return attribute(value, name->string());
    return lacking(value, jinja_shown(key).string());
}

}  // namespace headlight::jinja
