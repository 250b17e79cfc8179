// Represents a parsed template.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chat/jinja/value.h"

namespace headlight::jinja {

struct Expression;
struct FilterRow;
struct TestRow;
using ExpressionRef = std::unique_ptr<const Expression>;

struct Arguments {
    std::vector<ExpressionRef> positional;
    std::vector<std::pair<std::string, ExpressionRef>> named;
    ExpressionRef rest, rest_named;  // *rest, **rest_named
};

enum class ExpressionKind {
    constant,
    name,
    list,
    tuple,
    dict,        // parts: key, value, key, value, …
    attribute,   // parts[0].name; as a target: name of a namespace
    item,        // parts[0][parts[1]]
    slice,       // parts[0][parts[1]:parts[2]:parts[3]], each but the first may be null
    call,        // parts[0](arguments)
    filter,      // parts[0] | name(arguments)
    test,        // parts[0] is name(arguments)
    negation,    // not parts[0]
    sign,        // name parts[0]: + or −
    arithmetic,  // parts[0] name parts[1]
    join,        // parts[0] ~ parts[1] ~ …
    comparison,  // parts[0] names[0] parts[1] names[1] …
    conjunction,
    disjunction,
    conditional,  // parts[1] if parts[0] else parts[2], which may be null
    captured,     // what a block around it has written
};

struct Expression {
    ExpressionKind kind = ExpressionKind::constant;
    int line = 1, depth = 1;
    int id = -1;       // of a name
    std::string name;  // of an attribute, filter, test or operator
    std::vector<std::string> names;
    Value constant;
    std::vector<ExpressionRef> parts;
    Arguments arguments;
    const FilterRow* filter = nullptr;  // null: unknown
    const TestRow* test = nullptr;
};

using Block = std::vector<std::unique_ptr<const Statement>>;

struct Parameter {
    int id = -1;
    std::string name;
    ExpressionRef fallback;
};

enum class StatementKind {
    text,
    output,      // each of expressions
    assign,      // target = expressions[0]
    capture,     // target = blocks[0], through the filters of expressions[0], which may be null
    choice,      // blocks[i] if expressions[i]; one more block: else
    loop,        // for target in expressions[0] if expressions[1]: blocks[0], else blocks[1]
    macro,       // id, parameters, blocks[0]
    call,        // expressions[0], with blocks[0] as its caller
    filter,      // blocks[0] through expressions[0]
    with,        // targets = expressions: blocks[0]
    generation,  // blocks[0], which the model writes
    stop,        // break
    skip,        // continue
};

struct Statement {
    StatementKind kind = StatementKind::text;
    int line = 1, id = -1;
    std::string name;
    bool recursive = false;
    Text text;
    ExpressionRef target;
    std::vector<ExpressionRef> expressions, targets;
    std::vector<Block> blocks;
    std::vector<Parameter> parameters;
};

struct Program {
    Block body;
    std::vector<std::string> names;  // by id
};

/// Parses a template, valid UTF-8. Fails with a Trouble; `line` is then the line of the fault.
Program parse_program(std::string_view source, int& line);

}  // namespace headlight::jinja
