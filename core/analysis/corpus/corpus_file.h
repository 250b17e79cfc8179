// A corpus from a file: a text a line, read one after another, so that memory does not grow with the file.
#pragma once

#include <functional>
#include <optional>

#include "analysis/corpus/dossier.h"
#include "io/mapped_file.h"
#include "io/regular_file.h"

namespace headlight {

/// The texts of a file, one after another. A line is a text or, where the file's name ends in .jsonl, JSON: a
/// string, or an object with a string "text". Empty ones are none.
class CorpusLines {
public:
    struct Line {
        int number;
        std::string text;
    };
    /// `first_line`: what the file's first line counts as. An error names the line that holds no text.
    static Result<CorpusLines> open(const std::string& file, int first_line = 1,
                                    const CancelFlag* cancel = nullptr);
    /// Of a pipe, as they come, one in memory; `name`: its path, "-", or "-.jsonl". What is wrong with a line
    /// is said when it is met.
    static Result<CorpusLines> of(Descriptor stream, const std::string& name, int first_line = 1);

    /// How many texts there are in all; 0 of a pipe, which nobody knows.
    int count() const { return count_; }
    /// The next one; the same until advance() is called. None at the end.
    const std::optional<Line>& line() const { return line_; }
    Status advance();
    /// What is wrong with a line.
    Error in_line(int number, const std::string& why) const;
    /// Fails where the file changed while it was read.
    Status check_unchanged() const { return mapped_ ? mapped_->check_unchanged() : success(); }

private:
    CorpusLines() = default;
    void name(const std::string& file, int first_line);
    Result<std::string> text_of(int number, std::string_view written) const;
    /// The next line as it is written, of the file from a place on, which moves behind it; none at the end.
    Result<std::optional<std::string_view>> next_written(size_t& at) const;
    /// The next text likewise.
    Result<std::optional<Line>> next(size_t& at, int& number) const;
    Status count_all(const CancelFlag* cancel);
    Status begin();

    std::string name_;
    bool json_ = false;
    std::shared_ptr<const MappedFile> mapped_;
    struct Stream {
        StreamLines lines;
        std::string line;
    };
    std::shared_ptr<Stream> stream_;  // in place of the file
    size_t at_ = 0;
    int first_line_ = 1, number_ = 1, count_ = 0;
    std::optional<Line> line_;
};

/// What a line makes the model read.
using ReadCorpusLine = std::function<Result<ForwardRequest>(const std::string& text)>;
/// … as it is typed, without changes.
ReadCorpusLine read_plainly(const Model& model);

/// How a corpus is read: the model, what a line becomes, and what is called behind each of them, if anything.
struct CorpusReader {
    std::shared_ptr<const Model> model;
    ReadCorpusLine read;
    std::function<void()> seen = nullptr;
};

/// Takes in the lines that are left, each whole or not at all. An error names the line it is about; a
/// cancelled reading can go on with the same line.
Status read_corpus(const CorpusReader& reader, CorpusLines& lines, Corpus& corpus, ThreadPool& pool,
                   const CancelFlag* cancel = nullptr);

inline constexpr int kStrongestLinks = 12;  // of each head, where nobody asks for another number

/// What a file of texts, or one that dossier_json wrote, says of the heads of the run's model. For pages: the
/// window reads beside its frames.
struct DossierRequest {
    using Answer = std::shared_ptr<const Dossier>;
    std::string file;
    bool operator==(const DossierRequest&) const = default;
};
Result<std::shared_ptr<const Dossier>> answer_dossier(const Trace& trace, const DossierRequest& request,
                                                      ThreadPool& pool, const CancelFlag* cancel = nullptr);
/// Whether a file is to be read as a dossier: by its name or by its beginning.
bool is_read_as_dossier(const std::string& file);
/// One that was written to a file.
Result<Dossier> open_dossier(const std::string& file, const ModelConfig& config);

}  // namespace headlight
