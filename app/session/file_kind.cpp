#include "session/file_kind.h"

#include <filesystem>

#include "analysis/corpus/dossier.h"
#include "base/utf8.h"
#include "learn/lessons/lesson.h"
#include "session/conversation.h"
#include "session/dropped_text.h"
#include "session/samples.h"
#include "session/workspace.h"

namespace headlight {

namespace {

std::string ending_of(const std::string& path) {
    return lower_case(std::filesystem::path(path).extension().string());
}

}  // namespace

bool names_text_file(const std::string& path) {
    return ending_of(path) == ".txt" || ending_of(path) == ".text";
}

FileKind kind_of_file(const std::string& path) {
    const std::string ending = ending_of(path);
    if (is_workspace(path)) return FileKind::workspace;
    if (lessons::is_lesson(path)) return FileKind::lesson;
    if (ending == ".jsonl") return FileKind::corpus;
    if (ending == ".json")
        return is_dossier(path) ? FileKind::corpus : is_chat_file(path) ? FileKind::chat : FileKind::config;
    if (names_text_file(path)) return FileKind::text;
    return names_picture(path) ? FileKind::picture : FileKind::model;
}

}  // namespace headlight
