// Says which characters the tables of Hugging Face's tokenizers include.
#pragma once

namespace headlight {

/// Returns whether a character was added after Unicode 9. The tokenizers' tables of categories, scripts,
/// decompositions and combining classes lack these; Rust's own tables (case, white space, numbers) and its
/// regex have them.
bool came_later(char32_t c);

}  // namespace headlight
