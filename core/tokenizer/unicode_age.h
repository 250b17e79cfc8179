// Which characters the tables of Hugging Face's tokenizers know.
#pragma once

namespace headlight {

/// Whether a character came after Unicode 9. The tokenizers' tables of categories, scripts, decompositions
/// and combining classes hold nothing of these; Rust's own (case, white space, numbers) and its regex do.
bool came_later(char32_t c);

}  // namespace headlight
