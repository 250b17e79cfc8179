#include "cli/corpus_texts.h"

#include <algorithm>

#include "base/quoted.h"
#include "io/json.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

constexpr size_t kLongestText = 1 << 20;  // bytes

/// The file, or what came in by standard input.
struct CorpusBytes {
    std::string read;
    std::shared_ptr<const MappedFile> mapped;
    std::string_view all() const { return mapped ? mapped->text() : std::string_view(read); }
};

bool is_standard_input(const std::string& file) { return file == "-" || file == "-.jsonl"; }

std::string name_of_texts(const CorpusOptions& o) {
    return is_standard_input(o.file) ? "standard input" : in_quotes(shortened(o.file));
}

Result<CorpusBytes> open_texts(const std::string& file) {
    CorpusBytes out;
    if (is_standard_input(file)) {
        TRY(out.read, read_text("-"));
    } else {
        TRY(out.mapped, MappedFile::open(file));
    }
    return out;
}

/// The text of a line of JSON.
Result<std::string> text_of_json(const CorpusOptions& o, int line, std::string_view written) {
    const std::string name = "Line " + std::to_string(line) + " of " + name_of_texts(o);
    TRY(const Json value, parse_json(written, name));
    const Json* text = value.is_object() ? json_find(value, "text") : &value;
    if (!text || !text->is_string())
        return in_line(o, line, "it is neither a string nor an object with a string \"text\"; correct it.");
    return text->get<std::string>();
}

/// Each line that is not empty, without the blanks at its end.
Status visit_lines(std::string_view all, int first,
                   const std::function<Status(int, std::string_view)>& each) {
    int number = first;
    for (size_t at = 0; at < all.size(); ++number) {
        const size_t end = std::min(all.find('\n', at), all.size());
        std::string_view line = all.substr(at, end - at);
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        at = end + 1;
        if (!line.empty()) TRY_STATUS(each(number, line));
    }
    return success();
}

}  // namespace

Error in_line(const CorpusOptions& o, int line, const std::string& why) {
    return Error{"Line " + std::to_string(line) + " of " + name_of_texts(o) + ": " + why};
}

Status visit_texts(const CorpusOptions& o, const std::function<void(int)>& begin,
                   const std::function<Status(int, const std::string&)>& each) {
    TRY(const CorpusBytes bytes, open_texts(o.file));
    const bool json = o.file.ends_with(".jsonl");
    const auto visit = [&](const std::function<Status(int, const std::string&)>& see) {
        return visit_lines(bytes.all(), o.first_line, [&](int line, std::string_view written) -> Status {
            std::string text(written);
            if (json) {
                TRY(text, text_of_json(o, line, written));
            }
            if (text.size() > kLongestText)
                return in_line(o, line, "it has more than a million bytes; give one text a line.");
            return text.empty() ? success() : see(line, text);
        });
    };
    int count = 0;
    TRY_STATUS(visit([&](int, const std::string&) -> Status {
        ++count;
        return success();
    }));
    if (count == 0) return Error{name_of_texts(o) + " has no text; write one a line."};
    begin(count);
    return visit(each);
}

}  // namespace headlight
