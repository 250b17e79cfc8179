// Lists the commands that a lesson can lock. Keys, buttons, the palette and --do all ask here.
#include <algorithm>

#include "session/lesson.h"

namespace headlight {

namespace {

using Locked = bool (*)(const Session&);

bool model_or_sentence(const Session& s) { return model_locked(s) || sentence_locked(s); }

/// The rows that change what a lesson keeps as it is; rows of views are told by their name.
struct LockedRow {
    const char* command;
    Locked locked;
};

constexpr LockedRow kLockedRows[] = {
    {"switch", model_locked},
    {"adapter", model_locked},
    {"weaken adapter", model_locked},
    {"strengthen adapter", model_locked},
    {"fetch", model_locked},
    {"open fetched", model_locked},
    {"open left workspace", model_or_sentence},
    {"text", sentence_locked},
    {"second", sentence_locked},
    {"read text", sentence_locked},
    {"example", sentence_locked},
    {"accept prediction", sentence_locked},
    {"insert generated", sentence_locked},
    {"mask", interventions_locked},
    {"unmask", interventions_locked},
    {"score", interventions_locked},
    {"temperature", interventions_locked},
    {"freeze", interventions_locked},
    {"skip-attention", interventions_locked},
    {"skip-mlp", interventions_locked},
    {"ablate-expert", interventions_locked},
    {"positions", interventions_locked},
    {"patch-resid", interventions_locked},
    {"patch-attention", interventions_locked},
    {"patch-mlp", interventions_locked},
    {"patch-head", interventions_locked},
    {"noise", interventions_locked},
    {"ablate", interventions_locked},
    {"intervene", interventions_locked},
};

constexpr std::string_view kOpensView = "view ";

/// "view compare changes" → "compare": the key of the view that a command opens.
std::string_view key_of_command(std::string_view command) {
    command.remove_prefix(kOpensView.size());
    return command.substr(0, command.find(' '));
}

}  // namespace

const char* locked_by_lesson(const Session& session, const std::string& command) {
    if (!open_lesson_of(session)) return nullptr;
    const auto row = std::find_if(std::begin(kLockedRows), std::end(kLockedRows),
                                  [&](const LockedRow& one) { return one.command == command; });
    if (row != std::end(kLockedRows) && row->locked(session)) return kLockedByLesson;
    const bool opens = command.starts_with(kOpensView);
    return opens && view_locked(session, key_of_command(command)) ? kLockedByLesson : nullptr;
}

}  // namespace headlight
