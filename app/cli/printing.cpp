// Writes to standard output without letting a text control the terminal.
#include <cstdio>

#include "base/quoted.h"
#include "cli/options.h"
#include "io/file_version.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

Status print_raw(const std::string& text) {
    TRY_STATUS(check_mapped_files());
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        return Error{
            "Standard output cannot be written: check the disk's free space, or the program that reads it."};
    return success();
}

}  // namespace

Status print(const std::string& text) { return print_raw(printable(text)); }

Status print_json(const std::string& json) { return print_raw(json); }  // json_text has escaped them

std::string json_answer(const nlohmann::ordered_json& answer, int indent) {
    nlohmann::ordered_json out{{"version", kFileVersion}};
    out.update(answer);
    return json_text(out, indent) + "\n";
}

}  // namespace headlight
