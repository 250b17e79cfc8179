#include "io/text_file.h"

namespace headlight {

Status check_is_text(std::string_view bytes, const std::string& what) {
    if (bytes.find('\0') == std::string_view::npos) return success();
    return Error{what + " holds a zero byte, so it is not text in UTF-8; save it as UTF-8."};
}

Result<std::string_view> text_of_file(std::string_view bytes, const std::string& name) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    TRY_STATUS(check_is_text(bytes, name));
    if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
    return bytes;
}

}  // namespace headlight
