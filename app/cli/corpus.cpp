#include "cli/corpus.h"

#include "analysis/corpus/corpus_file.h"
#include "analysis/corpus/dossier_heads.h"
#include "base/quoted.h"
#include "cli/progress.h"
#include "io/output_file.h"
#include "session/dossier_page.h"

namespace headlight {

namespace {

Result<CorpusLines> open_lines(const CorpusOptions& o) {
    const bool standard = o.file == "-" || o.file == "-.jsonl";
    if (!standard && !is_stream(o.file)) return CorpusLines::open(o.file, o.first_line);
    TRY(Descriptor stream, open_stream(standard ? "-" : o.file));
    return CorpusLines::of(std::move(stream), o.file, o.first_line);
}

Result<Corpus> read_lines(const CorpusOptions& o, const std::shared_ptr<const Model>& model) {
    ThreadPool pool(o.input.threads);
    TRY(CorpusLines lines, open_lines(o));
    Progress progress(lines.count(), o.input.quiet);
    Corpus corpus(model->config, o.strongest);
    const auto read = [&](const std::string& text) {
        InputOptions input = o.input;
        input.typed.text = text;
        return read_request(input, model, pool);
    };
    TRY_STATUS(read_corpus({model, read, [&] { progress.step(); }}, lines, corpus, pool));
    return corpus;
}

/// Opens the named model, else makes one from what the dossier says of its heads.
Result<std::shared_ptr<const Model>> model_of_dossier(const CorpusOptions& o) {
    if (o.model_named) return open_model(o.input);
    TRY(const auto trace, trace_of_dossier(o.file));
    return trace->model;
}

/// Writes an existing dossier as a page or a table; its texts are not read again.
Status write_again(const CorpusOptions& o) {
    TRY(const auto model, model_of_dossier(o));
    TRY(const Dossier dossier, open_dossier(o.file, model->config));
    if (!o.output.empty()) return write_dossier(o.output, *model, dossier);
    return o.json ? print_json(dossier_json(model->config, dossier))
                  : print(dossier_csv(model->config, dossier));
}

Status check_output(const CorpusOptions& o) {
    if (!o.output.empty() && !is_dossier_path(o.output))
        return Error{in_quotes(shortened(o.output)) +
                     " does not end in .html, .json or .csv; change its ending."};
    if (o.json && !o.output.empty() && !o.output.ends_with(".json"))
        return Error{"--json and the ending of " + in_quotes(shortened(o.output)) +
                     " name two formats; leave --json out, or end -o in .json."};
    if (o.sums && !o.json && !o.output.ends_with(".json"))
        return Error{"--sums are only in JSON; add --json, or end -o in .json."};
    return success();
}

}  // namespace

Status write_corpus(const CorpusOptions& o) {
    TRY_STATUS(check_output(o));
    if (is_dossier(o.file)) return write_again(o);
    const bool json = o.json || o.output.ends_with(".json");
    TRY(const auto model, open_model(o.input));
    if (model->config.can.read_image)
        return Error{model->name + " reads images, and --corpus is a file of texts; open another model."};
    TRY(const Corpus corpus, read_lines(o, model));
    const Dossier dossier = dossier_of(*model, corpus, o.file);
    if (!json && !o.output.empty()) return write_dossier(o.output, *model, dossier);
    if (!json) return print(dossier_csv(model->config, dossier));
    const std::string text = dossier_json(model->config, dossier, o.sums ? &corpus : nullptr);
    return o.output.empty() ? print_json(text) : write_file(o.output, text);
}

}  // namespace headlight
