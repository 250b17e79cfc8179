#include "analysis/corpus_file.h"

#include <algorithm>

#include "base/check.h"
#include "base/quoted.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "io/json.h"
#include "io/text_file.h"
#include "model/input.h"

namespace headlight {

namespace {

constexpr size_t kLongestText = 1 << 20;  // bytes
constexpr size_t kLongestLine = 8 << 20;  // bytes of JSON: a text in escapes, and what stands beside it
constexpr int kMostLines = 2'000'000'000;

std::shared_ptr<const CorpusText> kept_text(const CorpusLines::Line& line) {
    const bool whole = line.text.size() <= kKeptCorpusText || count_code_points(line.text) <= kKeptCorpusText;
    return std::make_shared<const CorpusText>(CorpusText{
        line.number, whole ? valid_utf8(line.text) : shorten_middle(line.text, kKeptCorpusText), whole});
}

/// Where the tokens stand in the text, for those who show it.
std::vector<Span> places_of(const Model& model, const std::string& text) {
    TextInput typed;
    typed.text = text;
    auto input = encode_input(model, typed);
    return input ? std::move(input->offsets) : std::vector<Span>();
}

Status add_line(const CorpusReader& reader, const CorpusLines::Line& line, Corpus& corpus, ThreadPool& pool,
                const CancelFlag* cancel) {
    TRY(ForwardRequest request, reader.read(line.text));
    TRY(const auto trace, run_trace(reader.model, std::move(request), pool, cancel));
    const auto kept = kept_text(line);
    const std::vector<Span> places = kept->whole ? places_of(*reader.model, line.text) : std::vector<Span>();
    return guarded([&]() -> Status {
        const CancelScope scope(pool, cancel);
        corpus.add(*trace, kept, pool, places);
        return success();
    });
}

}  // namespace

Result<CorpusLines> CorpusLines::open(const std::string& file, int first_line, const CancelFlag* cancel) {
    CorpusLines out;
    TRY(out.mapped_, MappedFile::open(file));
    TRY_STATUS(out.begin(file, first_line, cancel));
    return out;
}

Result<CorpusLines> CorpusLines::of(std::string text, const std::string& name, int first_line) {
    CorpusLines out;
    out.read_ = std::make_shared<const std::string>(std::move(text));
    TRY_STATUS(out.begin(name, first_line, nullptr));
    return out;
}

Error CorpusLines::in_line(int number, const std::string& why) const {
    return Error{"Line " + std::to_string(number) + " of " + name_ + ": " + why};
}

Result<std::string> CorpusLines::text_of(int number, std::string_view written) const {
    if (written.size() > (json_ ? kLongestLine : kLongestText))
        return in_line(number, "it has more than " + std::string(json_ ? "8 million" : "a million") +
                                   " bytes; give one text a line.");
    TRY_STATUS(check_is_text(written, "Line " + std::to_string(number) + " of " + name_));
    std::string text(written);
    if (json_) {
        TRY(const Json value, parse_json(written, "Line " + std::to_string(number) + " of " + name_));
        const Json* said = value.is_object() ? json_find(value, "text") : &value;
        if (!said || !said->is_string())
            return in_line(number,
                           "it is neither a string nor an object with a string \"text\"; correct it.");
        text = said->get<std::string>();
    }
    if (text.size() > kLongestText)
        return in_line(number, "it has more than a million bytes; give one text a line.");
    return text;
}

Result<std::optional<CorpusLines::Line>> CorpusLines::next(size_t& at, int& number) const {
    if (at == 0 && all().starts_with("\xEF\xBB\xBF")) at = 3;  // a byte order mark
    while (at < all().size()) {
        if (number == kMostLines)
            return Error{name_ + " has more than two billion lines; cut it into parts."};
        const size_t end = std::min(all().find('\n', at), all().size());
        std::string_view written = all().substr(at, end - at);
        while (!written.empty() && (written.back() == '\r' || written.back() == ' '))
            written.remove_suffix(1);
        at = end + 1;
        const int here = number++;
        if (written.empty()) continue;
        TRY(std::string text, text_of(here, written));
        if (!text.empty()) return std::optional(Line{here, std::move(text)});
    }
    return std::optional<Line>();
}

/// Looks once at all of it, so that what is wrong with the last line is said before the first is read.
Status CorpusLines::begin(const std::string& file, int first_line, const CancelFlag* cancel) {
    name_ = file == "-" || file == "-.jsonl" ? "standard input" : in_quotes(shortened(file));
    json_ = lower_case(file).ends_with(".jsonl");
    number_ = first_line;
    size_t at = 0;
    for (int number = first_line;; ++count_) {
        if (cancel && *cancel) return cancelled();
        TRY(const auto line, next(at, number));
        if (!line) break;
    }
    if (count_ == 0) return Error{name_ + " has no text; write one a line."};
    advance();
    return success();
}

void CorpusLines::advance() {
    auto line = next(at_, number_);
    line_ = line ? *std::move(line) : std::nullopt;  // only a file that has changed fails now, which is said
}

ReadCorpusLine read_plainly(const Model& model) {
    return [&model](const std::string& text) -> Result<ForwardRequest> {
        TextInput typed;
        typed.text = text;
        TRY(ModelInput input, encode_input(model, typed));
        TRY_STATUS(check_sequences(model, input.sequences));
        return ForwardRequest{std::move(input.sequences), {}};
    };
}

Status read_corpus(const CorpusReader& reader, CorpusLines& lines, Corpus& corpus, ThreadPool& pool,
                   const CancelFlag* cancel) {
    while (lines.line()) {
        if (cancel && *cancel) return cancelled();
        const CorpusLines::Line& line = *lines.line();
        const Status added = add_line(reader, line, corpus, pool, cancel);
        if (!added)
            return added.error().cancelled ? added.error()
                                           : lines.in_line(line.number, added.error().message);
        lines.advance();
        if (reader.seen) reader.seen();
    }
    return lines.check_unchanged();
}

bool is_read_as_dossier(const std::string& file) {
    return lower_case(file).ends_with(".json") || is_dossier(file);
}

Result<Dossier> open_dossier(const std::string& file, const ModelConfig& config) {
    TRY(const auto mapped, MappedFile::open(file));
    TRY(Dossier out, parse_dossier(mapped->text(), display_path(file), config));
    TRY_STATUS(mapped->check_unchanged());
    return out;
}

Result<std::shared_ptr<const Dossier>> answer(const Trace& trace, const DossierWanted& wanted,
                                              ThreadPool& pool, const CancelFlag* cancel) {
    if (wanted.file.empty()) return std::shared_ptr<const Dossier>();
    if (is_read_as_dossier(wanted.file)) {
        TRY(Dossier read, open_dossier(wanted.file, trace.config()));
        return std::make_shared<const Dossier>(std::move(read));
    }
    const Model& model = *trace.model;
    TRY(CorpusLines lines, CorpusLines::open(wanted.file, 1, cancel));
    Corpus corpus(model.config, kStrongestLinks);
    TRY_STATUS(read_corpus({trace.model, read_plainly(model)}, lines, corpus, pool, cancel));
    return std::make_shared<const Dossier>(dossier_of(model, corpus, wanted.file));
}

}  // namespace headlight
