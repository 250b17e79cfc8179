#include "session/settings_writer.h"

#include "io/output_file.h"
#include "session/remembering.h"
#include "session/settings.h"

namespace headlight {

Status SettingsWriter::operator()(const Saver::Snapshot& now) {
    const bool keeps = !recovery_.empty() && !now.workspace.is_null();
    Status kept = keeps ? write_file(recovery_, json_text(now.workspace, 2) + "\n") : success();
    TRY_STATUS(remember_settings(settings_path(), last_, now.settings, looked_at_));
    last_ = now.settings;
    return kept;
}

}  // namespace headlight
