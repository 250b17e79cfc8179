// Runs statements.
#include <algorithm>

#include "chat/jinja/interpreter.h"
#include "chat/jinja/shown.h"

namespace headlight::jinja {

namespace {
constexpr int kDeepestRun = 700;  // of the interpreter within itself
}

void Scope::set(int id, Value value) {
    for (auto& [known, old] : names)
        if (known == id) {
            old = std::move(value);
            return;
        }
    names.emplace_back(id, std::move(value));
}

int Turns::message_of(Origin origin) const {
    const auto row = std::lower_bound(of_message.begin(), of_message.end(), origin);
    return origin != 0 && row != of_message.end() && *row == origin
               ? static_cast<int>(row - of_message.begin())
               : -1;
}

Interpreter::Level::Level(Interpreter& run) : run_(run) {
    if (++run.level_ > kDeepestRun) {
        --run.level_;
        fail("calls itself without end, or nests too deep");
    }
}

Interpreter::Inside::Inside(Interpreter& run, std::shared_ptr<Scope> scope)
    : run_(run), outside_(std::exchange(run.scope_, std::move(scope))) {}

Interpreter::Interpreter(const Program& program, Budget& budget, const Turns& turns, const std::tm& now)
    : program_(program), budget_(budget), turns_(turns), now_(now) {
    caller_id_ = known_id("caller");
    varargs_id_ = known_id("varargs");
    kwargs_id_ = known_id("kwargs");
    loop_id_ = known_id("loop");
    for (const std::string& name : function_names()) {
        auto function = std::make_shared<Callable>();
        function->name = name;
        define(name, CallableRef(std::move(function)));
    }
}

Interpreter::~Interpreter() {
    scope_.reset();
    for (Namespace& space : spaces_) space.items.clear();  // one may contain itself
}

int Interpreter::known_id(const char* name) const {
    const auto row = std::find(program_.names.begin(), program_.names.end(), name);
    return row == program_.names.end() ? -1 : static_cast<int>(row - program_.names.begin());
}

void Interpreter::define(const std::string& name, Value value) {
    if (const int id = known_id(name.c_str()); id >= 0) scope_->set(id, std::move(value));
}

Text Interpreter::jinja_shown(const Value& value) { return jinja::shown(budget_, value); }

Text Interpreter::render() {
    TextBuilder page(budget_);
    out_ = &page;
    page_ = &page;
    const auto inner = std::make_shared<Scope>();
    inner->parent = scope_;
    const Inside inside(*this, inner);
    run(program_.body);
    out_ = nullptr;
    return page.finish();
}

/// Writes text; the template's own bytes become those of the message that is being written.
void Interpreter::emit(const Text& text) {
    if (turn_ < 0 || text.empty()) return out_->add(text);
    const Origin own = turns_.of_template[static_cast<size_t>(turn_)];
    if (text.runs().empty()) return out_->add(text.bytes(), own);
    size_t begin = 0;
    for (const Run& run : text.runs()) {
        out_->add(text.bytes().substr(begin, run.end - begin), run.origin == 0 ? own : run.origin);
        begin = run.end;
    }
}

Text Interpreter::captured(const Block& block) {
    TextBuilder inner(budget_);
    TextBuilder* outside = std::exchange(out_, &inner);
    try {
        run(block);
    } catch (...) {
        out_ = outside;
        throw;
    }
    out_ = outside;
    return inner.finish();
}

Value Interpreter::through_filters(const Expression* filters, Text text) {
    if (!filters) return text;
    auto outside = std::exchange(captured_, Value(std::move(text)));
    Value out = evaluate(*filters);
    captured_ = std::move(outside);
    return out;
}

Flow Interpreter::run(const Block& block) {
    const Level level(*this);
    for (const auto& statement : block)
        if (const Flow flow = run(*statement); flow != Flow::next) return flow;
    return Flow::next;
}

Flow Interpreter::run(const Statement& s) {
    budget_.step();
    line_ = s.line;
    switch (s.kind) {
        case StatementKind::choice:
            return run_choice(s);
        case StatementKind::loop:
            return run_loop(s);
        case StatementKind::stop:
            return Flow::stop;
        case StatementKind::skip:
            return Flow::skip;
        default:
            run_plain(s);
            return Flow::next;
    }
}

/// Runs a statement that a break or continue in it cannot leave.
void Interpreter::run_plain(const Statement& s) {
    switch (s.kind) {
        case StatementKind::output:
            return run_output(s);
        case StatementKind::assign:
            return assign(*s.target, evaluate(*s.expressions[0]));
        case StatementKind::capture:
            return run_capture(s);
        case StatementKind::macro:
            return run_macro(s);
        case StatementKind::call:
            return run_call(s);
        case StatementKind::filter:
            return run_filter(s);
        case StatementKind::with:
            return run_with(s);
        case StatementKind::generation:
            return run_generation(s);
        default:
            return emit(s.text);
    }
}

std::shared_ptr<Scope> Interpreter::inner_scope() const {
    auto out = std::make_shared<Scope>();
    out->parent = scope_;
    out->in_loop = scope_->in_loop;
    return out;
}

void Interpreter::run_output(const Statement& s) {
    for (const auto& e : s.expressions) emit(jinja_shown(evaluate(*e)));
}

void Interpreter::run_capture(const Statement& s) {
    Text text;
    {
        const Inside inside(*this, inner_scope());
        text = captured(s.blocks[0]);
    }
    assign(*s.target, through_filters(s.expressions[0].get(), std::move(text)));
}

void Interpreter::run_macro(const Statement& s) {
    auto macro = std::make_shared<Callable>();
    macro->kind = Callable::Kind::macro;
    macro->name = s.name;
    macro->macro = &s;
    macro->scope = scope_;
    scope_->set(s.id, CallableRef(std::move(macro)));
}

void Interpreter::run_filter(const Statement& s) {
    const Inside inside(*this, inner_scope());
    emit(jinja_shown(through_filters(s.expressions[0].get(), captured(s.blocks[0]))));
}

Flow Interpreter::run_choice(const Statement& s) {
    for (size_t i = 0; i < s.expressions.size(); ++i)
        if (truth(evaluate(*s.expressions[i]))) return run(s.blocks[i]);
    return s.blocks.size() > s.expressions.size() ? run(s.blocks.back()) : Flow::next;
}

void Interpreter::run_with(const Statement& s) {
    std::vector<Value> values;
    for (const auto& e : s.expressions) values.push_back(evaluate(*e));
    const Inside inside(*this, inner_scope());
    for (size_t i = 0; i < values.size(); ++i) assign(*s.targets[i], values[i]);
    run(s.blocks[0]);
}

void Interpreter::run_generation(const Statement& s) {
    const Inside inside(*this, inner_scope());
    const Text text = captured(s.blocks[0]);
    if (out_ == page_) generated_.push_back({out_->size(), out_->size() + text.bytes().size()});
    out_->add(text);
}

/// Calls a macro, which may call the block as its caller.
void Interpreter::run_call(const Statement& s) {
    auto caller = std::make_shared<Callable>();
    caller->kind = Callable::Kind::macro;
    caller->name = s.name;
    caller->macro = &s;
    caller->scope = scope_;
    const Expression& e = *s.expressions[0];
    Call given = evaluate_arguments(e.arguments);
    given.named.emplace_back("caller", CallableRef(std::move(caller)));
    emit(jinja_shown(call(evaluate(*e.parts[0]), given)));
}

Flow Interpreter::run_loop(const Statement& s) {
    const Value items = evaluate(*s.expressions[0]);
    auto loop = std::make_shared<Loop>();
    loop->depth = depth_of(items) + 1;
    loop->recursive = s.recursive ? &s : nullptr;
    loop->items = items_of(budget_, items);
    run_items(s, loop);
    return Flow::next;
}

Value Interpreter::recursive_loop(const Statement& s, const Value& items, int depth0) {
    auto loop = std::make_shared<Loop>();
    loop->depth = depth_of(items) + 1;
    loop->depth0 = depth0;
    loop->recursive = &s;
    loop->items = items_of(budget_, items);
    TextBuilder inner(budget_);
    TextBuilder* outside = std::exchange(out_, &inner);
    try {
        run_items(s, loop);
    } catch (...) {
        out_ = outside;
        throw;
    }
    out_ = outside;
    return inner.finish();
}

void Interpreter::run_items(const Statement& s, const std::shared_ptr<Loop>& loop) {
    const auto fresh = [&](const std::shared_ptr<Scope>& parent) {
        auto scope = std::make_shared<Scope>();
        scope->parent = parent;
        scope->in_loop = true;
        return scope;
    };
    if (s.expressions[1])
        loop->wanted = [&, around = scope_](const Value& item) {
            const Inside inside(*this, fresh(around));
            const int turn = turn_;
            assign(*s.target, item);
            const bool out = truth(evaluate(*s.expressions[1]));
            turn_ = turn;
            return out;
        };
    const int outside = turn_;
    bool any = false;
    Flow flow = Flow::next;
    while (flow != Flow::stop && loop->next()) {
        any = true;
        budget_.step();
        const Inside inside(*this, fresh(scope_));
        if (loop_id_ >= 0) scope_->set(loop_id_, LoopRef(loop));
        assign(*s.target, *loop->current);
        flow = run(s.blocks[0]);
        turn_ = outside;
    }
    loop->wanted = nullptr;
    if (!any) run(s.blocks[1]);
}

/// Assigns to a name, an attribute of a namespace, or several. Within a loop, a message that gets a name is
/// the one being written, until the iteration ends.
void Interpreter::assign(const Expression& target, const Value& value) {
    if (target.kind == ExpressionKind::name) {
        if (scope_->in_loop && turn_ < 0) turn_ = turns_.message_of(value.origin);
        scope_->set(target.id, value);
    } else if (target.kind == ExpressionKind::attribute) {
        const Value space = lookup(*target.parts[0]);
        const auto* known = space.as<Namespace*>();
        if (!known) fail("assigns an attribute of something other than a namespace");
        if (target.name.starts_with('_')) fail("assigns to an attribute that begins with _");
        if (Value* old = (*known)->find(target.name))
            *old = value;
        else
            (*known)->items.emplace_back(target.name, value);
        budget_.step(static_cast<int64_t>((*known)->items.size() / 8));
    } else {
        const std::vector<Value> values = items_of(budget_, value);
        if (values.size() != target.parts.size())
            fail("takes " + std::to_string(values.size()) + " values apart into " +
                 std::to_string(target.parts.size()) + " names");
        for (size_t i = 0; i < values.size(); ++i) assign(*target.parts[i], values[i]);
    }
}

Value Interpreter::new_namespace(std::vector<std::pair<std::string, Value>> items) {
    budget_.step(10);
    budget_.hold(64 + items.size() * 64);
    spaces_.push_back({std::move(items)});
    return &spaces_.back();
}

}  // namespace headlight::jinja
