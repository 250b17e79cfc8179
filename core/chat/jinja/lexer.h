// Cuts a template into tokens, as Jinja does with trim_blocks and lstrip_blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight::jinja {

enum class TokenKind {
    data,
    block_begin,
    block_end,
    print_begin,
    print_end,
    name,
    text,
    whole,
    real,
    sign,
    end
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;  // of a name, a sign, template text, a string without its quotes and escapes
    int64_t whole = 0;
    double real = 0;
    int line = 1;
};

/// Cuts the whole source, valid UTF-8. Fails with a Trouble; `line` is then the line of the fault.
std::vector<Token> tokens_of(std::string_view source, int& line);

}  // namespace headlight::jinja
