// A file of text that was dropped or named: the person says what it is to be.
#pragma once

#include <string>

namespace headlight {

struct DroppedText {
    std::string path;
};

/// Whether a path is named like a plain text: .txt, .text.
bool names_text_file(const std::string& path);

}  // namespace headlight
