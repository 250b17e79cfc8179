// Parses expressions.
#include <algorithm>
#include <utility>

#include "base/quoted.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/parser.h"

namespace headlight::jinja {

namespace {
constexpr int kDeepestExpression = 250;
}

Parser::Made Parser::node(ExpressionKind kind) const {
    auto out = std::make_unique<Expression>();
    out->kind = kind;
    out->line = now().line;
    return out;
}

void Parser::deepen(Expression& out, int depth) const {
    out.depth = std::max(out.depth, depth + 1);
    if (out.depth > kDeepestExpression)
        fail("has an expression that nests more than " + std::to_string(kDeepestExpression) + " levels deep");
}

void Parser::add_part(Expression& out, Made part) {
    if (part) deepen(out, part->depth);
    out.parts.push_back(std::move(part));
}

Parser::Made Parser::with_parts(ExpressionKind kind, std::vector<Made> parts) {
    Made out = node(kind);
    for (Made& part : parts) add_part(*out, std::move(part));
    return out;
}

/// Parses an expression, or several with commas between them: a tuple.
Parser::Made Parser::tuple(bool conditions, const char* end, bool may_be_empty) {
    const auto ends = [&] {
        return now().kind == TokenKind::print_end || now().kind == TokenKind::block_end || at_sign(")") ||
               (end && at_name(end));
    };
    std::vector<Made> parts;
    bool is_tuple = may_be_empty && ends();
    while (!ends()) {
        const Level level(*this);
        parts.push_back(conditions ? conditional() : either());
        if (!take_sign(",")) break;
        is_tuple = true;
    }
    if (is_tuple) return with_parts(ExpressionKind::tuple, std::move(parts));
    if (parts.empty()) unexpected("an expression");
    return std::move(parts[0]);
}

Parser::Made Parser::conditional() {
    const Level level(*this);
    Made out = either();
    while (at_name("if")) {
        Made choice = node(ExpressionKind::conditional);
        take();
        add_part(*choice, either());
        add_part(*choice, std::move(out));
        add_part(*choice, take_name("else") ? conditional() : nullptr);
        out = std::move(choice);
    }
    return out;
}

Parser::Made Parser::either() {
    Made left = both();
    while (at_name("or")) {
        Made out = node(ExpressionKind::disjunction);
        take();
        add_part(*out, std::move(left));
        add_part(*out, both());
        left = std::move(out);
    }
    return left;
}

Parser::Made Parser::both() {
    Made left = negation();
    while (at_name("and")) {
        Made out = node(ExpressionKind::conjunction);
        take();
        add_part(*out, std::move(left));
        add_part(*out, negation());
        left = std::move(out);
    }
    return left;
}

Parser::Made Parser::negation() {
    if (!at_name("not")) return comparison();
    const Level level(*this);
    Made out = node(ExpressionKind::negation);
    take();
    add_part(*out, negation());
    return out;
}

Parser::Made Parser::comparison() {
    Made first = sum(), out;
    const auto next = [&]() -> std::string {
        for (const char* sign : {"==", "!=", "<", "<=", ">", ">="})
            if (take_sign(sign)) return sign;
        if (take_name("in")) return "in";
        if (!at_name("not") || after().kind != TokenKind::name || after().text != "in") return "";
        take();
        take();
        return "not in";
    };
    for (std::string sign = next(); !sign.empty(); sign = next()) {
        if (!out) {
            out = node(ExpressionKind::comparison);
            add_part(*out, std::move(first));
        }
        out->names.push_back(sign);
        add_part(*out, sum());
    }
    return out ? std::move(out) : std::move(first);
}

Parser::Made Parser::sum() {
    Made left = joined();
    while (at_sign("+") || at_sign("-")) {
        Made out = node(ExpressionKind::arithmetic);
        out->name = take().text;
        add_part(*out, std::move(left));
        add_part(*out, joined());
        left = std::move(out);
    }
    return left;
}

Parser::Made Parser::joined() {
    Made first = product();
    if (!at_sign("~")) return first;
    Made out = node(ExpressionKind::join);
    add_part(*out, std::move(first));
    while (take_sign("~")) add_part(*out, product());
    return out;
}

Parser::Made Parser::product() {
    Made left = power();
    while (at_sign("*") || at_sign("/") || at_sign("//") || at_sign("%")) {
        Made out = node(ExpressionKind::arithmetic);
        out->name = take().text;
        add_part(*out, std::move(left));
        add_part(*out, power());
        left = std::move(out);
    }
    return left;
}

Parser::Made Parser::power() {
    Made left = unary(true);
    while (at_sign("**")) {
        Made out = node(ExpressionKind::arithmetic);
        out->name = take().text;
        add_part(*out, std::move(left));
        add_part(*out, unary(true));
        left = std::move(out);
    }
    return left;
}

Parser::Made Parser::unary(bool filtered) {
    const Level level(*this);
    Made out;
    if (at_sign("-") || at_sign("+")) {
        out = node(ExpressionKind::sign);
        out->name = take().text;
        add_part(*out, unary(false));
    } else {
        out = primary();
    }
    out = postfix(std::move(out));
    return filtered ? filters_and_tests(std::move(out)) : std::move(out);
}

Parser::Made Parser::primary() {
    if (now().kind == TokenKind::name) return name_or_word();
    if (now().kind == TokenKind::text || now().kind == TokenKind::whole || now().kind == TokenKind::real)
        return number_or_text();
    if (at_sign("[")) return list();
    if (at_sign("{")) return dict();
    if (!take_sign("(")) unexpected("an expression");
    Made out = tuple(true, nullptr, true);
    expect_sign(")");
    return out;
}

Parser::Made Parser::name_or_word() {
    Made out = node(ExpressionKind::constant);
    const std::string name = take().text;
    if (name == "true" || name == "True") {
        out->constant = true;
    } else if (name == "false" || name == "False") {
        out->constant = false;
    } else if (name == "none" || name == "None") {
        out->constant = None{};
    } else {
        out->kind = ExpressionKind::name;
        out->name = name;
        out->id = id_of(name);
    }
    return out;
}

Parser::Made Parser::number_or_text() {
    Made out = node(ExpressionKind::constant);
    const Token token = take();
    if (token.kind == TokenKind::whole) {
        out->constant = token.whole;
    } else if (token.kind == TokenKind::real) {
        out->constant = token.real;
    } else {
        std::string text = token.text;
        while (now().kind == TokenKind::text) text += take().text;
        out->constant = Text(std::move(text));
    }
    return out;
}

Parser::Made Parser::list() {
    Made out = node(ExpressionKind::list);
    take();
    while (!at_sign("]")) {
        if (!out->parts.empty()) expect_sign(",");
        if (at_sign("]")) break;
        add_part(*out, expression());
    }
    take();
    return out;
}

Parser::Made Parser::dict() {
    Made out = node(ExpressionKind::dict);
    take();
    while (!at_sign("}")) {
        if (!out->parts.empty()) expect_sign(",");
        if (at_sign("}")) break;
        add_part(*out, expression());
        expect_sign(":");
        add_part(*out, expression());
    }
    take();
    return out;
}

Parser::Made Parser::postfix(Made base) {
    while (at_sign(".") || at_sign("[") || at_sign("("))
        base = at_sign("(") ? call(std::move(base)) : subscript(std::move(base));
    return base;
}

Parser::Made Parser::subscript(Made base) {
    if (take_sign("[")) return subscribed(std::move(base));
    Made out = node(ExpressionKind::attribute);
    take();
    const Token token = take();
    add_part(*out, std::move(base));
    if (token.kind == TokenKind::name) {
        out->name = token.text;
        return out;
    }
    if (token.kind != TokenKind::whole) fail("has a point without the name of an attribute");
    out->kind = ExpressionKind::item;
    Made index = node(ExpressionKind::constant);
    index->constant = token.whole;
    add_part(*out, std::move(index));
    return out;
}

/// Parses an index or a slice, and the bracket after it.
Parser::Made Parser::subscribed(Made base) {
    const Level level(*this);
    Made out = node(ExpressionKind::item);
    add_part(*out, std::move(base));
    add_part(*out, at_sign(":") ? nullptr : tuple(true));
    if (at_sign(":")) {
        out->kind = ExpressionKind::slice;
        while (out->parts.size() < 4) {
            const bool given = take_sign(":") && !at_sign(":") && !at_sign("]");
            add_part(*out, given ? expression() : nullptr);
        }
    }
    expect_sign("]");
    return out;
}

Arguments Parser::arguments() {
    Arguments out;
    expect_sign("(");
    bool first = true;
    while (!at_sign(")")) {
        if (!std::exchange(first, false)) expect_sign(",");
        if (at_sign(")")) break;
        if (take_sign("**")) {
            if (out.rest_named) fail("has two ** in one call");
            out.rest_named = expression();
        } else if (take_sign("*")) {
            if (out.rest || out.rest_named) fail("has two * in one call");
            out.rest = expression();
        } else if (now().kind == TokenKind::name && after().kind == TokenKind::sign && after().text == "=") {
            const std::string name = take().text;
            take();
            out.named.emplace_back(name, expression());
        } else {
            if (!out.named.empty() || out.rest || out.rest_named)
                fail("has an argument without a name after one with a name");
            out.positional.push_back(expression());
        }
    }
    take();
    return out;
}

void Parser::take_arguments(Expression& out) {
    out.arguments = arguments();
    for (const auto& argument : out.arguments.positional) deepen(out, argument->depth);
    for (const auto& [name, argument] : out.arguments.named) deepen(out, argument->depth);
    for (const auto* rest : {&out.arguments.rest, &out.arguments.rest_named})
        if (*rest) deepen(out, (*rest)->depth);
}

Parser::Made Parser::call(Made base) {
    Made out = node(ExpressionKind::call);
    add_part(*out, std::move(base));
    take_arguments(*out);
    return out;
}

Parser::Made Parser::filters_and_tests(Made base) {
    while (true) {
        if (at_sign("|"))
            base = filter(std::move(base));
        else if (at_name("is"))
            base = test(std::move(base));
        else if (at_sign("("))
            base = call(std::move(base));
        else
            return base;
    }
}

/// Parses filters, each after its "|".
Parser::Made Parser::filter(Made base) {
    while (take_sign("|")) {
        Made out = node(ExpressionKind::filter);
        out->name = expect(TokenKind::name, "the name of a filter").text;
        while (take_sign(".")) out->name += "." + expect(TokenKind::name, "the name of a filter").text;
        out->filter = find_filter(out->name);
        if (!out->filter && !soft_)
            fail("uses the filter " + in_quotes(out->name) + ", which Headlight lacks");
        add_part(*out, std::move(base));
        if (at_sign("(")) take_arguments(*out);
        base = std::move(out);
    }
    return base;
}

Parser::Made Parser::test(Made base) {
    Made out = node(ExpressionKind::test);
    take();
    const bool negated = take_name("not");
    out->name = expect(TokenKind::name, "the name of a test").text;
    while (take_sign(".")) out->name += "." + expect(TokenKind::name, "the name of a test").text;
    out->test = find_test(out->name);
    if (!out->test && !soft_) fail("uses the test " + in_quotes(out->name) + ", which Headlight lacks");
    add_part(*out, std::move(base));
    const bool value =
        now().kind == TokenKind::text || now().kind == TokenKind::whole || now().kind == TokenKind::real ||
        at_sign("[") || at_sign("{") ||
        (now().kind == TokenKind::name && !at_name("else") && !at_name("or") && !at_name("and"));
    if (at_sign("(")) {
        take_arguments(*out);
    } else if (value) {
        if (at_name("is")) fail("chains two tests by \"is\"");
        Made argument = postfix(primary());
        deepen(*out, argument->depth);
        out->arguments.positional.push_back(std::move(argument));
    }
    if (!negated) return out;
    Made inverse = node(ExpressionKind::negation);
    add_part(*inverse, std::move(out));
    return inverse;
}

}  // namespace headlight::jinja
