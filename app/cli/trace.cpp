#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/verbs.h"
#include "trace/trace_file.h"

namespace headlight {

std::function<Status()> declare_trace(CLI::App& app) {
    struct Options {
        InputOptions input;
        std::string output;
        std::vector<std::string> capture;
    };
    auto o = std::make_shared<Options>();
    add_input_options(app, o->input);
    app.add_option("-o,--output", o->output, "the .safetensors file to write")->required();
    app.add_option("--capture", o->capture,
                   "write the tensors whose names match, '*hook_q' for example (repeatable)")
        ->expected(1)
        ->take_all();
    return [o]() -> Status {
        ThreadPool pool(o->input.threads);
        TRY(const auto trace, run_input(o->input, pool));
        return write_trace(o->output, *trace, o->capture, pool);
    };
}

}  // namespace headlight
