// Calls macros, methods, functions, filters and tests.
#include <algorithm>

#include "base/quoted.h"
#include "chat/jinja/interpreter.h"

namespace headlight::jinja {

Given::Given(const Call& call, const char* parameters, size_t required, const std::string& of)
    : call_(call), of_(of) {
    if (!parameters) return;
    std::vector<std::string_view> names;
    for (std::string_view rest = parameters; !rest.empty();) {
        const size_t end = std::min(rest.find(' '), rest.size());
        names.push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (call.positional.size() > names.size()) fail("gives " + of + " too many arguments");
    values_.resize(names.size());
    for (size_t i = 0; i < call.positional.size(); ++i) values_[i] = &call.positional[i];
    for (const auto& [name, value] : call.named) {
        const auto row = std::find(names.begin(), names.end(), name);
        if (row == names.end()) fail("gives " + of + " an argument " + in_quotes(name) + ", which it lacks");
        values_[static_cast<size_t>(row - names.begin())] = &value;
    }
    for (size_t i = 0; i < required; ++i)
        if (!values_[i]) fail("gives " + of + " no " + in_quotes(names[i]));
}

int64_t Given::whole(size_t i, int64_t fallback) const {
    if (!has(i) || (*this)[i].is<None>()) return fallback;
    int64_t room = 0;
    const int64_t* value = integer((*this)[i], room);
    if (!value) fail(std::string("gives ") + of_ + " " + typed((*this)[i]) + " as a number");
    return *value;
}

const Text& Given::text(size_t i) const {
    const Value& value = (*this)[i];
    if (const auto* missing = value.as<Undefined>()) fail(*missing->why);
    if (!value.text()) fail(std::string("gives ") + of_ + " " + typed(value) + " instead of a text");
    return *value.text();
}

Value Interpreter::filter(const std::string& name, const Call& call) {
    const FilterRow* row = find_filter(name);
    if (!row) fail("uses the filter " + in_quotes(name) + ", which Headlight lacks");
    return row->run(*this, Given(call, row->parameters, row->required, name));
}

bool Interpreter::test(const std::string& name, const Call& call) {
    const TestRow* row = find_test(name);
    if (!row) fail("uses the test " + in_quotes(name) + ", which Headlight lacks");
    const std::string_view parameters = row->parameters;
    return row->run(*this,
                    Given(call, row->parameters, parameters.find(' ') == parameters.npos ? 1 : 2, name));
}

Value Interpreter::call(const Value& value, const Call& call) {
    const Level level(*this);
    if (const auto* missing = value.as<Undefined>()) fail(*missing->why);
    if (const auto* loop = value.as<LoopRef>()) return call_loop(*loop, call);
    const auto* ref = value.as<CallableRef>();
    if (!ref) fail(std::string("calls ") + typed(value));
    const Callable& callable = **ref;
    switch (callable.kind) {
        case Callable::Kind::macro:
            return call_macro(callable, call);
        case Callable::Kind::cycler:
            fail("calls a cycler; its method is next()");
        case Callable::Kind::joiner: {
            const bool first = std::exchange(callable.at, 1) == 0;
            return first ? Value(Text()) : callable.items[0];
        }
        case Callable::Kind::function: {
            const FunctionRow* row = find_function(callable.name);
            return row->run(*this, Given(call, row->parameters, row->required, callable.name));
        }
        case Callable::Kind::method:
            break;
    }
    const FunctionRow* row = find_method(callable.self, callable.name);
    Call whole = call;
    whole.positional.insert(whole.positional.begin(), callable.self);
    return row->run(*this, Given(whole, row->parameters, row->required, callable.name));
}

/// Calls `loop` itself: its body again, for other items.
Value Interpreter::call_loop(const LoopRef& loop, const Call& call) {
    const std::string name = "loop";
    const Given given(call, "iterable", 1, name);
    if (!loop->recursive) fail("calls a loop that is not recursive");
    return recursive_loop(*loop->recursive, given[0], loop->depth0 + 1);
}

/// Gives parameters their arguments, or defaults, which may use the parameters before them.
void Interpreter::bind_parameters(const Callable& macro, const Call& call, Scope& scope) {
    const auto& parameters = macro.macro->parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const auto named = std::find_if(call.named.begin(), call.named.end(),
                                        [&](const auto& given) { return given.first == parameters[i].name; });
        if (i < call.positional.size())
            scope.set(parameters[i].id, call.positional[i]);
        else if (named != call.named.end())
            scope.set(parameters[i].id, named->second);
        else if (parameters[i].fallback)
            scope.set(parameters[i].id, evaluate(*parameters[i].fallback));
        else
            scope.set(parameters[i].id, undefined("uses the parameter " + in_quotes(parameters[i].name) +
                                                  " of " + macro.name + "(), which is not given"));
    }
}

/// Offers arguments without a parameter as varargs, kwargs and caller; refuses those no one reads.
void Interpreter::bind_extra(const Callable& macro, Call extra, Scope& scope) {
    std::erase_if(extra.named, [&](const auto& given) {
        if (given.first != "caller") return false;
        if (caller_id_ >= 0) scope.set(caller_id_, given.second);
        return true;
    });
    if (varargs_id_ >= 0)
        scope.set(varargs_id_, make_sequence(budget_, extra.positional, SequenceKind::tuple));
    else if (!extra.positional.empty())
        fail("gives the macro " + macro.name + "() too many arguments");
    std::vector<std::pair<Value, Value>> named;
    for (const auto& [name, value] : extra.named) named.emplace_back(Text(name), value);
    if (kwargs_id_ >= 0)
        scope.set(kwargs_id_, make_dict(budget_, std::move(named)));
    else if (!named.empty())
        fail("gives the macro " + macro.name + "() an argument " + in_quotes(extra.named[0].first) +
             ", which it lacks");
}

Value Interpreter::call_macro(const Callable& macro, const Call& call) {
    auto scope = std::make_shared<Scope>();
    scope->parent = macro.scope.lock();
    if (!scope->parent) fail("calls the macro " + macro.name + "() outside the block that defines it");
    const auto& parameters = macro.macro->parameters;
    Call extra;
    for (size_t i = parameters.size(); i < call.positional.size(); ++i)
        extra.positional.push_back(call.positional[i]);
    for (size_t i = 0; i < call.named.size(); ++i) {
        const auto known = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const Parameter& p) { return p.name == call.named[i].first; });
        if (known == parameters.end()) extra.named.push_back(call.named[i]);
    }
    Scope& inner = *scope;
    const Inside inside(*this, std::move(scope));
    if (!call.positional.empty() || !call.named.empty() || !parameters.empty() || varargs_id_ >= 0 ||
        kwargs_id_ >= 0)
        bind_extra(macro, std::move(extra), inner);
    bind_parameters(macro, call, inner);
    return captured(macro.macro->blocks[0]);
}

}  // namespace headlight::jinja
