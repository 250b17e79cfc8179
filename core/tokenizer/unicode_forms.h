// Normalizes Unicode, tracking origins as Hugging Face's NormalizedString does.
#pragma once

#include <functional>
#include <vector>

#include "tokenizer/text.h"

namespace headlight {

/// Is a character of the new text. change: +1: added after its predecessor; −n: n more old ones in it.
struct Scalar {
    char32_t value;
    int change = 0;
    int combining = 0;
};

/// Builds the new text. `removed` old characters at the front left nothing.
AlignedText rewrite(const AlignedText& text, const std::vector<Scalar>& scalars, int removed = 0);

/// NFC, NFD, NFKC, NFKD (UAX #15).
enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
AlignedText normalize_form(const AlignedText& text, UnicodeForm form);

/// Keeps the characters for which `keep` holds.
AlignedText filter(const AlignedText& text, const std::function<bool(char32_t)>& keep);

AlignedText lowercase(const AlignedText& text);

std::vector<char32_t> code_points(std::string_view text);

bool is_mark(char32_t c);             // general category M
bool is_nonspacing_mark(char32_t c);  // Mn
bool is_punctuation(char32_t c);      // P, and ASCII's symbols (BERT's rule)
bool is_letter_or_digit(char32_t c);  // L and N
bool is_word_character(char32_t c);   // \w in Rust's regex (UTS #18)

}  // namespace headlight
