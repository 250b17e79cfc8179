#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/quoted.h"
#include "base/utf8.h"
#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "trace/trace_file.h"

namespace headlight {

namespace {

/// Refuses a name that ends like another format.
Status check_trace_name(const std::string& output) {
    constexpr std::string_view kForeign[] = {".h5", ".hdf5", ".zarr", ".npz", ".parquet",
                                             ".pt", ".pth",  ".bin",  ".gguf"};
    const std::string ending = lower_case(std::filesystem::path(output).extension().string());
    const bool other =
        std::ranges::count(kForeign, ending) || (format_of("x" + ending) && ending != ".safetensors");
    return other ? Status(Error{"A trace is a .safetensors file, and " + in_quotes(shortened(output)) +
                                " ends in " + ending + "; change its ending."})
                 : success();
}

}  // namespace

std::function<Status()> declare_trace(CLI::App& app) {
    struct Options {
        InputOptions input;
        std::string output;
        std::vector<std::string> capture;
        std::string dtype = "f32";
    };
    auto o = std::make_shared<Options>();
    add_input_options(app, o->input);
    app.add_option("-o,--output", o->output, "the .safetensors file to write")->required();
    app.add_option("--capture", o->capture,
                   "write only tensors whose names match, '*hook_q' for example (repeatable)")
        ->expected(1)
        ->take_all();
    app.add_option("--dtype", o->dtype,
                   "how floats are stored: f32, or f16, half as large and to three digits")
        ->check(one_of({"f32", "f16"}))
        ->capture_default_str();
    return [o]() -> Status {
        TRY_STATUS(check_trace_name(o->output));
        ThreadPool pool(o->input.threads);
        TRY(const auto trace, run_input(o->input, pool));
        return write_trace(o->output, *trace, o->capture, pool,
                           o->dtype == "f16" ? TraceFloats::f16 : TraceFloats::f32);
    };
}

}  // namespace headlight
