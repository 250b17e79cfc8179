// Reads a corpus from a file, one text per line, so that memory does not grow with the file.
#pragma once

#include <functional>
#include <optional>

#include "analysis/corpus/dossier.h"
#include "io/mapped_file.h"
#include "io/regular_file.h"

namespace headlight {

inline constexpr const char* kSampleTexts = "sample:texts";  // assets/samples/texts.txt

/// Iterates over the texts of a file. A line is a text or, if the file's name ends in .jsonl, JSON: a string,
/// or an object with a string "text". Skips empty ones.
class CorpusLines {
public:
    struct Line {
        int number;
        std::string text;
    };
    /// `file`: a path, or kSampleTexts. `first_line`: number of the file's first line. Fails, naming the
    /// line, if a line holds no text.
    static Result<CorpusLines> open(const std::string& file, int first_line = 1,
                                    const CancelFlag* cancel = nullptr);
    /// Reads a pipe as it arrives, one line in memory; `name`: its path, "-", or "-.jsonl". Reports an error
    /// in a line when it is reached.
    static Result<CorpusLines> of(Descriptor stream, const std::string& name, int first_line = 1);

    /// Counts the texts; 0 for a pipe, which is unknown.
    int count() const { return count_; }
    /// Returns the current text until advance() is called; none at the end.
    const std::optional<Line>& line() const { return line_; }
    Status advance();
    Error in_line(int number, const std::string& why) const;
    /// Fails if the file changed while it was read.
    Status check_unchanged() const { return mapped_ ? mapped_->check_unchanged() : success(); }

private:
    CorpusLines() = default;
    void name(const std::string& file, int first_line);
    Result<std::string> text_of(int number, std::string_view written) const;
    /// Returns the raw line at `at`, and moves `at` after it; none at the end.
    Result<std::optional<std::string_view>> next_written(size_t& at) const;
    /// Returns the text at `at` likewise.
    Result<std::optional<Line>> next(size_t& at, int& number) const;
    Status count_all(const CancelFlag* cancel);
    Status begin();

    std::string name_;
    bool json_ = false;
    std::shared_ptr<const MappedFile> mapped_;
    std::string_view sample_;  // replaces the file
    struct Stream {
        StreamLines lines;
        std::string line;
    };
    std::shared_ptr<Stream> stream_;  // replaces the file
    size_t at_ = 0;
    int first_line_ = 1, number_ = 1, count_ = 0;
    std::optional<Line> line_;
};

using ReadCorpusLine = std::function<Result<ForwardRequest>(const std::string& text)>;
/// Makes the request of the plain text, without changes.
ReadCorpusLine read_plainly(const Model& model);

/// Says how to read a corpus: the model, the request of a line, and what to call after each, if anything.
struct CorpusReader {
    std::shared_ptr<const Model> model;
    ReadCorpusLine read;
    std::function<void()> seen = nullptr;
};

/// Adds the remaining lines, each whole or not at all. An error names its line; after a cancel, reading can
/// resume with the same line.
Status read_corpus(const CorpusReader& reader, CorpusLines& lines, Corpus& corpus, ThreadPool& pool,
                   const CancelFlag* cancel = nullptr);

inline constexpr int kStrongestLinks = 12;  // of each head, by default

/// Requests what a file of texts, or one written by dossier_json, says about the heads of the run's model.
/// For pages: the window reads between its frames.
struct DossierRequest {
    using Answer = std::shared_ptr<const Dossier>;
    std::string file;
    bool operator==(const DossierRequest&) const = default;
};
Result<std::shared_ptr<const Dossier>> answer_dossier(const Trace& trace, const DossierRequest& request,
                                                      ThreadPool& pool, const CancelFlag* cancel = nullptr);
/// Returns whether a file is a dossier, by its name or its beginning.
bool is_read_as_dossier(const std::string& file);
Result<Dossier> open_dossier(const std::string& file, const ModelConfig& config);

}  // namespace headlight
