// Runs a parsed template.
#pragma once

#include <ctime>
#include <deque>
#include <optional>

#include "chat/jinja/filters.h"
#include "chat/jinja/loop.h"
#include "chat/jinja/syntax.h"

namespace headlight::jinja {

/// Holds the names of a block; those of blocks around it are its parent's.
struct Scope {
    std::shared_ptr<Scope> parent;
    std::vector<std::pair<int, Value>> names;
    bool in_loop = false;

    void set(int id, Value value);
};

/// Says which message a value is, and what the template's own bytes are called while that message is written.
struct Turns {
    std::vector<Origin> of_message;   // the origin of each message as a whole
    std::vector<Origin> of_template;  // of template bytes written for each message
    int message_of(Origin origin) const;
};

/// Is what a block ends with.
enum class Flow { next, stop, skip };

class Interpreter {
public:
    Interpreter(const Program& program, Budget& budget, const Turns& turns, const std::tm& now);
    Interpreter(const Interpreter&) = delete;
    ~Interpreter();

    void define(const std::string& name, Value value);
    Text render();
    /// Returns the line that runs, for messages.
    int line() const { return line_; }
    /// Returns the bytes that {% generation %} blocks wrote.
    const std::vector<Stretch>& generated() const { return generated_; }

    Budget& budget() { return budget_; }
    const std::tm& now() const { return now_; }
    Text shown(const Value& value) { return jinja_shown(value); }
    Value attribute(const Value& value, const std::string& name);
    Value item(const Value& value, const Value& key);
    Value filter(const std::string& name, const Call& call);
    bool test(const std::string& name, const Call& call);
    Value call(const Value& callable, const Call& call);
    Value new_namespace(std::vector<std::pair<std::string, Value>> items);

private:
    /// Counts how deep the interpreter is within itself.
    class Level {
    public:
        explicit Level(Interpreter& run);
        ~Level() { --run_.level_; }
        Level(const Level&) = delete;

    private:
        Interpreter& run_;
    };
    /// Opens a scope while it lives.
    class Inside {
    public:
        Inside(Interpreter& run, std::shared_ptr<Scope> scope);
        ~Inside() { run_.scope_ = std::move(outside_); }
        Inside(const Inside&) = delete;

    private:
        Interpreter& run_;
        std::shared_ptr<Scope> outside_;
    };

    Text jinja_shown(const Value& value);

    // run.cpp: statements
    Flow run(const Block& block);
    Flow run(const Statement& statement);
    void run_plain(const Statement& statement);
    Flow run_choice(const Statement& statement);
    Flow run_loop(const Statement& statement);
    void run_items(const Statement& statement, const std::shared_ptr<Loop>& loop);
    Value recursive_loop(const Statement& statement, const Value& items, int depth0);
    void run_output(const Statement& statement);
    void run_capture(const Statement& statement);
    void run_macro(const Statement& statement);
    void run_filter(const Statement& statement);
    void run_with(const Statement& statement);
    void run_generation(const Statement& statement);
    void run_call(const Statement& statement);
    void assign(const Expression& target, const Value& value);
    void emit(const Text& text);
    Text captured(const Block& block);
    std::shared_ptr<Scope> inner_scope() const;
    Value through_filters(const Expression* filters, Text text);

    // evaluate.cpp: expressions
    Value evaluate(const Expression& e);
    Value lookup(const Expression& e);
    Value evaluate_operation(const Expression& e);
    Value evaluate_list(const Expression& e);
    Value evaluate_dict(const Expression& e);
    Value evaluate_slice(const Expression& e);
    Value evaluate_join(const Expression& e);
    Value evaluate_comparison(const Expression& e);
    Value evaluate_conditional(const Expression& e);
    Value evaluate_filter(const Expression& e);
    Value evaluate_call(const Expression& e);
    Call evaluate_arguments(const Arguments& arguments);

    // calls.cpp
    Value call_macro(const Callable& macro, const Call& call);
    Value call_loop(const LoopRef& loop, const Call& call);
    void bind_parameters(const Callable& macro, const Call& call, Scope& scope);
    void bind_extra(const Callable& macro, Call extra, Scope& scope);
    int known_id(const char* name) const;

    const Program& program_;
    Budget& budget_;
    const Turns& turns_;
    const std::tm now_;
    std::deque<Namespace> spaces_;
    std::shared_ptr<Scope> scope_ = std::make_shared<Scope>();
    TextBuilder* out_ = nullptr;
    const TextBuilder* page_ = nullptr;  // what is written at last
    std::optional<Value> captured_;      // of {% set %} and {% filter %} with filters
    std::vector<Stretch> generated_;
    int line_ = 1, level_ = 0, turn_ = -1;
    int caller_id_, varargs_id_, kwargs_id_, loop_id_;
};

/// Applies + - * / // % ** to values.
Value arithmetic(Interpreter& run, const std::string& sign, const Value& a, const Value& b);
Value signed_value(const std::string& sign, const Value& value);
/// Returns value[begin:end:step].
Value sliced(Interpreter& run, const Value& value, const Value* begin, const Value* end, const Value* step);

}  // namespace headlight::jinja
