// Reads corpora line by line.
#include "analysis/corpus/corpus_file.h"

#include <algorithm>

#include "base/check.h"
#include "base/embedded.h"
#include "base/quoted.h"
#include "base/threads.h"
#include "base/utf8.h"
#include "io/json.h"
#include "io/text_file.h"
#include "model/input.h"

namespace headlight {

namespace {

constexpr size_t kLongestText = 1 << 20;  // bytes
constexpr size_t kLongestLine = 8 << 20;  // bytes of JSON: an escaped text, and other entries
constexpr int kMaxLines = 2'000'000'000;

std::shared_ptr<const CorpusText> kept_text(const CorpusLines::Line& line) {
    const bool whole = line.text.size() <= kKeptCorpusText || count_code_points(line.text) <= kKeptCorpusText;
    return std::make_shared<const CorpusText>(CorpusText{
        line.number, whole ? valid_utf8(line.text) : shorten_middle(line.text, kKeptCorpusText), whole});
}

/// Returns the tokens' spans in the text, for display.
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
    if (file == kSampleTexts) {
        out.sample_ = embedded_file("assets/samples/texts.txt");
    } else {
        TRY(out.mapped_, MappedFile::open(file));
    }
    out.name(file, first_line);
    TRY_STATUS(out.count_all(cancel));
    TRY_STATUS(out.begin());
    return out;
}

Result<CorpusLines> CorpusLines::of(Descriptor stream, const std::string& name, int first_line) {
    CorpusLines out;
    out.name(name, first_line);
    out.stream_ = std::make_shared<Stream>(
        Stream{{std::move(stream), out.json_ ? kLongestLine : kLongestText}, std::string()});
    TRY_STATUS(out.begin());
    return out;
}

void CorpusLines::name(const std::string& file, int first_line) {
    name_ = file == "-" || file == "-.jsonl" ? "standard input" : in_quotes(shortened(file));
    json_ = lower_case(file).ends_with(".jsonl");
    first_line_ = number_ = first_line;
}

Error CorpusLines::in_line(int number, const std::string& why) const {
    return Error{"Line " + std::to_string(number) + " of " + name_ + ": " + why};
}

Result<std::string> CorpusLines::text_of(int number, std::string_view written) const {
    if (written.size() > (json_ ? kLongestLine : kLongestText))
        return in_line(number, "it has more than " + std::string(json_ ? "8 million" : "a million") +
                                   " bytes; write one text per line.");
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
        return in_line(number, "it has more than a million bytes; write one text per line.");
    return text;
}

Result<std::optional<std::string_view>> CorpusLines::next_written(size_t& at) const {
    if (stream_) {
        TRY(const bool any, stream_->lines.next(stream_->line));
        return any ? std::optional(std::string_view(stream_->line)) : std::nullopt;
    }
    const std::string_view all = mapped_ ? mapped_->text() : sample_;
    if (at >= all.size()) return std::optional<std::string_view>();
    const size_t begin = at, end = std::min(all.find('\n', at), all.size());
    at = end + 1;
    return std::optional(all.substr(begin, end - begin));
}

Result<std::optional<CorpusLines::Line>> CorpusLines::next(size_t& at, int& number) const {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    for (;;) {
        const bool first = number == first_line_;
        TRY(auto written, next_written(at));
        if (!written) return std::optional<Line>();
        if (number == kMaxLines) return Error{name_ + " has more than two billion lines; cut it into parts."};
        if (first && written->starts_with(kByteOrderMark)) written->remove_prefix(kByteOrderMark.size());
        while (!written->empty() && (written->back() == '\r' || written->back() == ' '))
            written->remove_suffix(1);
        const int here = number++;
        if (written->empty()) continue;
        TRY(std::string text, text_of(here, *written));
        if (!text.empty()) return std::optional(Line{here, std::move(text)});
    }
}

/// Scans the whole file once, so that an error in the last line is reported before the first is read.
Status CorpusLines::count_all(const CancelFlag* cancel) {
    size_t at = 0;
    for (int number = number_;; ++count_) {
        if (cancel && *cancel) return cancelled();
        TRY(const auto line, next(at, number));
        if (!line) return success();
    }
}

Status CorpusLines::begin() {
    TRY_STATUS(advance());
    return line_ ? success() : Status(Error{name_ + " has no text; write one per line."});
}

Status CorpusLines::advance() {
    auto read = next(at_, number_);
    line_.reset();
    if (!read) TRY_STATUS(check_unchanged());  // which then explains the failure
    TRY(line_, std::move(read));
    return success();
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
        TRY_STATUS(lines.advance());
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

Result<std::shared_ptr<const Dossier>> answer_dossier(const Trace& trace, const DossierRequest& request,
                                                      ThreadPool& pool, const CancelFlag* cancel) {
    if (request.file.empty()) return std::shared_ptr<const Dossier>();
    if (is_read_as_dossier(request.file)) {
        TRY(Dossier read, open_dossier(request.file, trace.config()));
        return std::make_shared<const Dossier>(std::move(read));
    }
    const Model& model = *trace.model;
    TRY(CorpusLines lines, CorpusLines::open(request.file, 1, cancel));
    Corpus corpus(model.config, kStrongestLinks);
    TRY_STATUS(read_corpus({trace.model, read_plainly(model)}, lines, corpus, pool, cancel));
    return std::make_shared<const Dossier>(dossier_of(model, corpus, request.file));
}

}  // namespace headlight
