// What a file that is dropped, named or chosen opens as: one answer for all ways in.
#pragma once

#include <string>

namespace headlight {

enum class FileKind { workspace, corpus, config, text, picture, model };

/// By the ending, and of a .json by what it holds; what is none of the others is taken for a model.
FileKind kind_of_file(const std::string& path);

}  // namespace headlight
