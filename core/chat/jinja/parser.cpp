#include "chat/jinja/parser.h"

#include <algorithm>

#include "base/quoted.h"

namespace headlight::jinja {

namespace {

constexpr int kDeepestTemplate = 120;  // of the parser within itself
constexpr size_t kMaxNames = 100'000;

/// Describes a token for a message.
std::string token_text(const Token& token) {
    switch (token.kind) {
        case TokenKind::end:
            return "the end of the template";
        case TokenKind::data:
            return "text";
        case TokenKind::block_begin:
            return "{%";
        case TokenKind::block_end:
            return "%}";
        case TokenKind::print_begin:
            return "{{";
        case TokenKind::print_end:
            return "}}";
        default:
            return in_quotes(token.text);
    }
}

}  // namespace

Program parse_program(std::string_view source, int& line) {
    return Parser(tokens_of(source, line), line).program();
}

Parser::Level::Level(Parser& parser) : parser_(parser) {
    if (++parser.level_ > kDeepestTemplate) {
        --parser.level_;
        fail("nests more than " + std::to_string(kDeepestTemplate) + " levels deep");
    }
}

Program Parser::program() {
    Program out;
    out.body = block({});
    out.names = std::move(names_);
    return out;
}

Token Parser::take() {
    const Token out = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    line_ = now().line;
    return out;
}

bool Parser::take_sign(std::string_view sign) {
    const bool here = at_sign(sign);
    if (here) take();
    return here;
}

bool Parser::take_name(std::string_view name) {
    const bool here = at_name(name);
    if (here) take();
    return here;
}

void Parser::unexpected(const std::string& wanted) const {
    fail("has " + token_text(now()) + " instead of " + wanted);
}

void Parser::expect_sign(const char* sign) {
    if (!take_sign(sign)) unexpected(in_quotes(sign));
}

void Parser::expect_name(const char* name) {
    if (!take_name(name)) unexpected(in_quotes(name));
}

Token Parser::expect(TokenKind kind, const char* what) {
    if (now().kind != kind) unexpected(what);
    return take();
}

int Parser::id_of(const std::string& name) {
    const auto [row, added] = ids_.try_emplace(name, static_cast<int>(names_.size()));
    if (added) names_.push_back(name);
    if (names_.size() > kMaxNames) fail("has more than 100,000 names, which no chat template has");
    return row->second;
}

Parser::MadeStatement Parser::started(StatementKind kind) const {
    auto out = std::make_unique<Statement>();
    out->kind = kind;
    out->line = now().line;
    return out;
}

/// Parses until the name of one of the tags `ends`, which it leaves, or the end of the template.
Block Parser::block(std::initializer_list<const char*> ends) {
    const Level level(*this);
    Block out;
    while (now().kind != TokenKind::end) {
        if (now().kind == TokenKind::data) {
            auto text = started(StatementKind::text);
            text->text = Text(take().text);
            out.push_back(std::move(text));
        } else if (now().kind == TokenKind::print_begin) {
            auto output = started(StatementKind::output);
            take();
            output->expressions.push_back(tuple(true));
            expect(TokenKind::print_end, "}}");
            out.push_back(std::move(output));
        } else {
            expect(TokenKind::block_begin, "{%");
            if (std::any_of(ends.begin(), ends.end(), [&](const char* end) { return at_name(end); }))
                return out;
            out.push_back(statement());
            expect(TokenKind::block_end, "%}");
        }
    }
    if (ends.size() > 0) fail(std::string("ends before {% ") + *(ends.end() - 1) + " %}");
    return out;
}

/// Parses the rest of a tag and the statements after it, until one of the tags `ends`.
Block Parser::body(std::initializer_list<const char*> ends) {
    take_sign(":");
    expect(TokenKind::block_end, "%}");
    return block(ends);
}

/// Parses what runs as a function of its own, and its end: its filters must be known.
Block Parser::hard_body(const char* end) {
    const bool outside = std::exchange(soft_, false);
    Block out = body({end});
    soft_ = outside;
    take();
    return out;
}

Parser::MadeStatement Parser::statement() {
    const std::string name = now().kind == TokenKind::name ? now().text : "";
    if (name == "set") return assignment();
    if (name == "for") return loop();
    if (name == "if") return choice();
    if (name == "macro") return macro();
    if (name == "call") return call_block();
    if (name == "filter") return filter_block();
    if (name == "with") return with_block();
    if (name == "generation") return generation();
    if (name == "print") return print();
    if (name == "break" || name == "continue") {
        auto out = started(name == "break" ? StatementKind::stop : StatementKind::skip);
        take();
        return out;
    }
    fail("has the tag " + token_text(now()) + ", which chat templates do not use");
}

Parser::MadeStatement Parser::assignment() {
    auto out = started(StatementKind::assign);
    take();
    out->target = target(true, nullptr);
    if (take_sign("=")) {
        out->expressions.push_back(tuple(true));
        return out;
    }
    out->kind = StatementKind::capture;
    out->expressions.push_back(at_sign("|") ? filter(node(ExpressionKind::captured)) : nullptr);
    out->blocks.push_back(hard_body("endset"));
    return out;
}

Parser::MadeStatement Parser::loop() {
    auto out = started(StatementKind::loop);
    take();
    out->target = target(false, "in");
    expect_name("in");
    out->expressions.push_back(tuple(false, "recursive"));
    out->expressions.push_back(take_name("if") ? expression() : nullptr);
    out->recursive = take_name("recursive");
    const bool outside = std::exchange(soft_, false);
    out->blocks.push_back(body({"else", "endfor"}));
    if (take().text == "else") {
        out->blocks.push_back(body({"endfor"}));
        take();
    } else {
        out->blocks.emplace_back();
    }
    soft_ = outside;
    return out;
}

Parser::MadeStatement Parser::choice() {
    auto out = started(StatementKind::choice);
    const bool outside = std::exchange(soft_, true);
    std::string word = take().text;
    while (word != "else" && word != "endif") {
        out->expressions.push_back(tuple(false));
        out->blocks.push_back(body({"elif", "else", "endif"}));
        word = take().text;
    }
    if (word == "else") {
        out->blocks.push_back(body({"endif"}));
        take();
    }
    soft_ = outside;
    return out;
}

void Parser::signature(Statement& out) {
    expect_sign("(");
    while (!at_sign(")")) {
        if (!out.parameters.empty()) expect_sign(",");
        Parameter parameter;
        parameter.name = expect(TokenKind::name, "a parameter").text;
        parameter.id = id_of(parameter.name);
        if (take_sign("="))
            parameter.fallback = expression();
        else if (!out.parameters.empty() && out.parameters.back().fallback)
            fail("has a parameter without a default after one with a default");
        out.parameters.push_back(std::move(parameter));
    }
    take();
}

Parser::MadeStatement Parser::macro() {
    auto out = started(StatementKind::macro);
    take();
    out->name = expect(TokenKind::name, "the macro's name").text;
    out->id = id_of(out->name);
    signature(*out);
    out->blocks.push_back(hard_body("endmacro"));
    return out;
}

Parser::MadeStatement Parser::call_block() {
    auto out = started(StatementKind::call);
    take();
    out->name = "caller";
    if (at_sign("(")) signature(*out);
    Made called = expression();
    if (called->kind != ExpressionKind::call) fail("has a {% call %} of something other than a call");
    out->expressions.push_back(std::move(called));
    out->blocks.push_back(hard_body("endcall"));
    return out;
}

Parser::MadeStatement Parser::filter_block() {
    auto out = started(StatementKind::filter);
    take();
    // Reads "name" as "| name".
    tokens_[--at_] = Token{TokenKind::sign, "|", 0, 0, now().line};
    out->expressions.push_back(filter(node(ExpressionKind::captured)));
    out->blocks.push_back(hard_body("endfilter"));
    return out;
}

Parser::MadeStatement Parser::with_block() {
    auto out = started(StatementKind::with);
    take();
    while (now().kind != TokenKind::block_end) {
        if (!out->targets.empty()) expect_sign(",");
        out->targets.push_back(target(false, nullptr));
        expect_sign("=");
        out->expressions.push_back(expression());
    }
    out->blocks.push_back(hard_body("endwith"));
    return out;
}

Parser::MadeStatement Parser::generation() {
    auto out = started(StatementKind::generation);
    take();
    out->blocks.push_back(hard_body("endgeneration"));
    return out;
}

Parser::MadeStatement Parser::print() {
    auto out = started(StatementKind::output);
    take();
    while (now().kind != TokenKind::block_end) {
        if (!out->expressions.empty()) expect_sign(",");
        out->expressions.push_back(expression());
    }
    return out;
}

/// Parses a name, or with `spaces` an attribute of a namespace, or names in parentheses.
Parser::Made Parser::single_target(bool spaces) {
    const Level level(*this);
    if (take_sign("(")) {
        Made out = target(spaces, nullptr);
        expect_sign(")");
        return out;
    }
    Made out = node(ExpressionKind::name);
    const std::string name = expect(TokenKind::name, "a name to assign to").text;
    for (const char* word : {"true", "false", "none", "True", "False", "None"})
        if (name == word) fail("assigns to " + in_quotes(name));
    out->name = name;
    out->id = id_of(name);
    if (spaces && take_sign(".")) {
        Made attribute = node(ExpressionKind::attribute);
        attribute->name = expect(TokenKind::name, "an attribute").text;
        add_part(*attribute, std::move(out));
        return attribute;
    }
    return out;
}

Parser::Made Parser::target(bool spaces, const char* end) {
    std::vector<Made> parts;
    parts.push_back(single_target(spaces));
    if (!at_sign(",")) return std::move(parts[0]);
    // A comma after the last target of {% with %} begins the next assignment.
    while (take_sign(",")) {
        if (at_sign(")") || at_sign("=") || now().kind == TokenKind::block_end || (end && at_name(end)))
            break;
        parts.push_back(single_target(spaces));
    }
    return with_parts(ExpressionKind::tuple, std::move(parts));
}

}  // namespace headlight::jinja
