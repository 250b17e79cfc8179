// Writes a page that computes: a small model, the engine, and a field to type in.
#include <CLI/CLI.hpp>

#include "analysis/prediction/lens.h"
#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/page/live_model.h"
#include "hub/library.h"
#include "io/output_file.h"

namespace headlight {

namespace {

constexpr size_t kLargestPage = 12'000'000;

struct PageOptions {
    InputOptions input;
    std::string model, output, title, layer, view = "head";
    int head = 0;
};

Status choose_first_head(const PageOptions& o, PageContents& page) {
    const ModelConfig& c = page.trace->config();
    TRY(page.block, o.layer.empty() ? Result<int>(0) : parse_block(c, o.layer));
    page.head = o.head;
    if (c.has_head({page.block, page.head})) return success();
    return Error{"There is no head " + std::to_string(o.head) + " in that layer of " +
                 page.trace->model->name + "; correct --head."};
}

Status run(const PageOptions& o) {
    if (o.model.empty())
        return Error{
            "Name the model in the page, as in --live stories; a page of one text is written by 'headlight "
            "render -o x.html'."};
    ThreadPool pool(o.input.threads);
    TRY(const auto folder, find_model(o.model));
    TRY(const LiveRun run, run_live(folder, model_name(folder), o.input.typed.text, pool));
    PageContents page;
    page.trace = run.trace.get();
    page.view = o.view;
    page.title = o.title.empty() ? o.input.typed.text : o.title;
    TRY_STATUS(choose_first_head(o, page));
    if (run.trace->model->has_logits()) {
        TRY(page.lens, answer_lens(*run.trace, {0, run.trace->output().size()}, pool, nullptr));
    } else if (o.view == "lens") {
        return Error{run.trace->model->name + " predicts nothing; choose another --view than lens."};
    }
    TRY(const std::string html, live_page_html(page, run.model, pool));
    if (html.size() > kLargestPage)
        return Error{
            "The page would have " + std::to_string(html.size() / 1'000'000) +
            " MB, more than the 12 MB that open quickly; choose a smaller model, 'stories' for example."};
    return write_file(o.output, html);
}

}  // namespace

std::function<Status()> declare_page(CLI::App& app) {
    auto o = std::make_shared<PageOptions>();
    o->input.typed.text = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";
    app.add_option(
        "--live", o->model,
        "the model in the page: a Hugging Face folder with few weights, or the built-in 'stories', "
        "'translator' or 'formation'");
    app.add_option("-o,--output", o->output, "the .html file to write ('-': standard output)")->required();
    app.add_option("--text", o->input.typed.text, "the text that the page opens with")->capture_default_str();
    app.add_option("--view", o->view, "the view that it opens on")
        ->check(one_of({"head", "heads", "lines", "text", "lens"}))
        ->capture_default_str();
    add_head_options(app, o->layer, o->head, " (default: 0.0)");
    app.add_option("--title", o->title, "title of the page until the reader types (default: the text)");
    add_run_options(app, o->input);
    return [o] { return run(*o); };
}

}  // namespace headlight
