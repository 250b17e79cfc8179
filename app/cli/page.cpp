// Writes a page that computes: a small model, the engine, and a field to type in.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "analysis/prediction/lens.h"
#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/page/live_model.h"
#include "figure/page/page_data.h"
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

/// Holds a folder while the model in it is open.
class TemporaryFolder {
public:
    static Result<TemporaryFolder> make() {
        std::error_code wrong;
        std::string name = (std::filesystem::temp_directory_path(wrong) / "headlight-page-XXXXXX").string();
        if (wrong || !mkdtemp(name.data()))
            return Error{"No temporary folder can be made (" + std::string(std::strerror(errno)) +
                         "): free some space, or name a folder as TMPDIR."};
        return TemporaryFolder(name);
    }
    explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
    TemporaryFolder(TemporaryFolder&& other) noexcept { std::swap(path_, other.path_); }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

Status check_live(const Model& model) {
    if (model.config.can.read_image)
        return Error{model.name +
                     " reads pictures, and a page that computes reads text; choose another model."};
    return model.tokenizer ? success() : Status(model.tokenizer.error());
}

/// Adds what a translator writes, as the page does.
Result<std::shared_ptr<const Trace>> run_live(const std::shared_ptr<const Model>& model, const PageOptions& o,
                                              ThreadPool& pool) {
    TRY(ForwardRequest request, read_request(o.input, model, pool));
    std::shared_ptr<const Trace> written;
    TRY(request, with_target(model, std::move(request), pool, written));
    return run_trace(model, std::move(request), pool);
}

/// Returns how far the patterns of two runs of the same tokens are apart at most.
float largest_difference(const Trace& a, const Trace& b) {
    float out = 0;
    for (int block = 0; block < a.config().blocks(); ++block)
        for (int head = 0; head < a.config().heads(block); ++head)
            out = std::max(out, (a.pattern(block, head) - b.pattern(block, head)).cwiseAbs().maxCoeff());
    return out;
}

/// Says how the page's weights differ from the model's, in what the reader sees.
Result<std::string> said_weights(const PageOptions& o, const LiveModel& live, const Trace& rounded,
                                 ThreadPool& pool) {
    if (!live.rounded) return std::string("It computes with the model's own weights.");
    TRY(const auto exact, open_model(o.model));
    TRY(const auto whole, run_trace(exact, {rounded.request.inputs, {}}, pool));
    char text[160];
    std::snprintf(
        text, sizeof text,
        "It computes with weights in 8 bits: on the first text attention is within %.1g of the model's.",
        said_error(largest_difference(rounded, *whole)));
    return std::string(text);
}

Status choose_first_head(const PageOptions& o, PageContents& page) {
    const ModelConfig& c = page.trace->config();
    TRY(page.block, o.layer.empty() ? Result<int>(0) : parse_block(c, o.layer));
    page.head = o.head;
    if (c.has_head({page.block, page.head})) return success();
    return Error{"There is no head " + std::to_string(o.head) + " in that layer of " +
                 page.trace->model->name + "; correct --head."};
}

Status write_page(const PageOptions& o, LiveModel& live, const std::shared_ptr<const Trace>& trace,
                  ThreadPool& pool) {
    PageContents page;
    page.trace = trace.get();
    page.view = o.view;
    page.title = o.title.empty() ? o.input.typed.text : o.title;
    TRY_STATUS(choose_first_head(o, page));
    if (trace->model->has_logits()) {
        TRY(page.lens, answer_lens(*trace, {0, trace->output().size()}, pool, nullptr));
    } else if (o.view == "lens") {
        return Error{trace->model->name + " predicts nothing; choose another --view than lens."};
    }
    live.text = o.input.typed.text;
    TRY(live.weights, said_weights(o, live, *trace, pool));
    TRY(const std::string html, live_page_html(page, live, pool));
    if (html.size() > kLargestPage)
        return Error{
            "The page would have " + std::to_string(html.size() / 1'000'000) +
            " MB, more than the 12 MB that open quickly; choose a smaller model, 'stories' for example."};
    return write_file(o.output, html);
}

Status run(const PageOptions& o) {
    if (o.model.empty())
        return Error{
            "Name the model in the page, as in --live stories; a page of one text is written by 'headlight "
            "render -o x.html'."};
    TRY(const auto folder, find_model(o.model));
    TRY(LiveModel live, live_model(folder));
    TRY(const auto temporary, TemporaryFolder::make());
    TRY_STATUS(write_live_model(live, temporary.path()));
    TRY(const auto model, Model::open(temporary.path(), nullptr, nullptr, model_name(folder)));
    TRY_STATUS(check_live(*model));
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_live(model, o, pool));
    return write_page(o, live, trace, pool);
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
