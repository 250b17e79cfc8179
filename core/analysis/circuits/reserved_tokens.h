// Tells which rows of a vocabulary no text reaches: places that its makers kept free.
#pragma once

#include <string_view>
#include <vector>

#include "model/model.h"

namespace headlight {

/// "[unused42]", "<unused7>", "<|reserved_special_token_3|>", "madeupword0001", or "": a row without a token.
bool is_reserved(std::string_view spelling);

/// Returns it for each row of a stack's vocabulary; all false without a tokenizer.
std::vector<bool> reserved_tokens(const Model& model, int stack);

}  // namespace headlight
