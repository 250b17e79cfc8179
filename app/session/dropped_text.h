// A dropped or named text file, until you choose what it is.
#pragma once

#include <string>

namespace headlight {

struct DroppedText {
    std::string path;
};

/// Whether a path has the extension of plain text: .txt, .text.
bool names_text_file(const std::string& path);

}  // namespace headlight
