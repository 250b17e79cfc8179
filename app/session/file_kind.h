// Decides what a dropped, named or chosen file opens as, for all ways to open one.
#pragma once

#include <string>

namespace headlight {

enum class FileKind { workspace, lesson, corpus, config, text, chat, picture, model };

/// Decides by extension, and a .json by its content; anything else is taken for a model.
FileKind kind_of_file(const std::string& path);

}  // namespace headlight
