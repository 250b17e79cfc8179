// Builds the tree of a template from its tokens, with Jinja's grammar and precedence.
#pragma once

#include <initializer_list>
#include <unordered_map>

#include "chat/jinja/lexer.h"
#include "chat/jinja/syntax.h"

namespace headlight::jinja {

class Parser {
public:
    Parser(std::vector<Token> tokens, int& line) : tokens_(std::move(tokens)), line_(line) {}
    Program program();

private:
    using Made = std::unique_ptr<Expression>;
    using MadeStatement = std::unique_ptr<Statement>;

    // parser.cpp: tokens and statements
    const Token& now() const { return tokens_[at_]; }
    const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
    bool at_sign(std::string_view sign) const { return now().kind == TokenKind::sign && now().text == sign; }
    bool at_name(std::string_view name) const { return now().kind == TokenKind::name && now().text == name; }
    bool take_sign(std::string_view sign);
    bool take_name(std::string_view name);
    Token take();
    void expect_sign(const char* sign);
    void expect_name(const char* name);
    Token expect(TokenKind kind, const char* what);
    [[noreturn]] void unexpected(const std::string& wanted) const;
    int id_of(const std::string& name);

    Block block(std::initializer_list<const char*> ends);
    Block body(std::initializer_list<const char*> ends);
    Block hard_body(const char* end);
    MadeStatement statement();
    MadeStatement started(StatementKind kind) const;
    MadeStatement assignment();
    MadeStatement loop();
    MadeStatement choice();
    MadeStatement macro();
    MadeStatement call_block();
    MadeStatement filter_block();
    MadeStatement with_block();
    MadeStatement generation();
    MadeStatement print();
    void signature(Statement& out);
    Made target(bool spaces, const char* end);
    Made single_target(bool spaces);

    // expressions.cpp
    Made node(ExpressionKind kind) const;
    Made with_parts(ExpressionKind kind, std::vector<Made> parts);
    void deepen(Expression& out, int depth) const;
    void add_part(Expression& out, Made part);
    Made expression() { return conditional(); }
    Made tuple(bool conditions, const char* end = nullptr, bool may_be_empty = false);
    Made conditional();
    Made either();
    Made both();
    Made negation();
    Made comparison();
    Made sum();
    Made joined();
    Made product();
    Made power();
    Made unary(bool filtered);
    Made primary();
    Made name_or_word();
    Made number_or_text();
    Made list();
    Made dict();
    Made postfix(Made base);
    Made subscript(Made base);
    Made subscribed(Made base);
    Made call(Made base);
    Made filters_and_tests(Made base);
    Made filter(Made base);
    Made test(Made base);
    Arguments arguments();
    void take_arguments(Expression& out);

    /// Counts how deep the parser is within itself.
    class Level {
    public:
        explicit Level(Parser& parser);
        ~Level() { --parser_.level_; }
        Level(const Level&) = delete;

    private:
        Parser& parser_;
    };

    std::vector<Token> tokens_;
    int& line_;
    size_t at_ = 0;
    int level_ = 0;
    bool soft_ = false;  // an unknown filter matters only if it runs: inside an if, as in Jinja
    std::vector<std::string> names_;
    std::unordered_map<std::string, int> ids_;
};

}  // namespace headlight::jinja
