#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/options.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "io/output_file.h"
#include "learn/controls.h"
#include "learn/numbers.h"
#include "learn/pictures.h"
#include "views/learn_page.h"

namespace headlight {

namespace {

struct LearnOptions {
    InputOptions input;
    std::string station, output, format, layer;
    std::vector<std::string> set;
    std::map<std::string, std::string> fields;  // of the style, those that were given
    int head = -1, query = -1;                  // −1: the station's first head, the last query
    bool list = false;
};

std::string station_list() {
    size_t widest = 0;
    for (const auto& station : learn::stations()) widest = std::max(widest, std::string(station.key).size());
    std::string out;
    for (const auto& station : learn::stations())
        out += std::string(station.key).append(widest + 2 - std::string(station.key).size(), ' ') +
               learn::station_text(station.key).title + "\n";
    return out;
}

/// The sentence, from its file where one was named, or the station's own where nothing was.
Status choose_sentence(InputOptions& input, const learn::Station& station) {
    std::string& text = input.typed.text;
    if (!input.text_file.empty()) {
        TRY(text, read_text(input.text_file));
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
        input.text_file.clear();
        return success();
    }
    if (text.empty() && input.typed.ids.empty()) text = learn::station_text(station.key).sample;
    return success();
}

/// The picture that was named; null: none.
Result<std::shared_ptr<const RgbImage>> learn_picture(const InputOptions& input) {
    if (input.image.empty()) return std::shared_ptr<const RgbImage>();
    TRY(RgbImage image, open_image(input.image));
    return std::make_shared<const RgbImage>(std::move(image));
}

/// The sentence, or the picture where it reads pictures, in the model that was named, else in the one that
/// the station opens; null where it needs none.
Result<std::shared_ptr<const Trace>> learn_trace(InputOptions input, const learn::Station& station,
                                                 const std::shared_ptr<const RgbImage>& image,
                                                 ThreadPool& pool) {
    if (input.model.empty()) input.model = station.opens;
    if (input.model.empty()) return std::shared_ptr<const Trace>();
    TRY(const auto model, open_model(input));
    input.image.clear();
    if (model->config.can.read_image) {
        if (input.typed.text == learn::station_text(station.key).sample) input.typed.text.clear();
        input.typed.image = image ? image : std::make_shared<const RgbImage>(learn::sample_picture());
    }
    TRY(ForwardRequest request, read_request(input, model, pool));
    return run_trace(model, std::move(request), pool);
}

/// Stations that show no head of a model, and those whose page no query changes.
constexpr const char* kWithoutHead[] = {"database", "worked-example", "seq2seq", "formation"};
constexpr const char* kWithoutQuery[] = {"database",   "scale",   "worked-example",
                                         "parameters", "seq2seq", "formation"};

Status check_heard(const LearnOptions& o, const learn::Station& station) {
    const auto lists = [&](const auto& keys) {
        return std::find(std::begin(keys), std::end(keys), std::string_view(station.key)) != std::end(keys);
    };
    const std::string at = " at the station " + std::string(station.key) + "; leave it out.";
    if (lists(kWithoutHead) && (!o.layer.empty() || o.head >= 0))
        return Error{(o.head >= 0 ? "--head" : "--layer") + std::string(" has no part") + at};
    if (lists(kWithoutQuery) && o.query >= 0) return Error{"--query has no part" + at};
    return success();
}

/// The head that was named, else the one that the station begins with, else the first.
Result<AttentionHead> learn_head(const LearnOptions& o, const learn::Station& station, const Trace& trace,
                                 ThreadPool& pool) {
    if (o.layer.empty() && o.head < 0)
        return station.first_head ? station.first_head(trace, pool).value_or(AttentionHead{})
                                  : AttentionHead{};
    AttentionHead out{0, std::max(0, o.head)};
    TRY(out.block, parse_block(trace.config(), o.layer.empty() ? "0" : o.layer));
    if (trace.config().has_head(out)) return out;
    return Error{"There is no head " + std::to_string(out.head) + " in layer " +
                 block_path(trace.config(), out.block) + " of " + trace.model->name + "; correct --head."};
}

Result<learn::Page> learn_page(LearnOptions& o, const learn::Station& station, ThreadPool& pool) {
    TRY_STATUS(choose_sentence(o.input, station));
    TRY(const auto image, learn_picture(o.input));
    TRY(const auto trace, learn_trace(o.input, station, image, pool));
    learn::StationInput input;
    input.image = image;
    input.text = o.input.typed.text;
    input.query = o.query;
    if (trace) {
        input.trace = trace.get();
        input.model = trace->model.get();
        TRY(const AttentionHead chosen, learn_head(o, station, *trace, pool));
        input.block = chosen.block;
        input.head = chosen.head;
    }
    std::any state = station.first_state();
    for (const std::string& assignment : o.set) TRY_STATUS(learn::set_control(station, state, assignment));
    return learn::station_page(station, input, state, pool);
}

Status run_learn(LearnOptions o) {
    if (o.list) return print(station_list());
    if (o.station.empty() || o.output.empty())
        return Error{
            "Name a station and a file to write, --station positions -o positions.pdf for example; "
            "--list names the stations."};
    FigureStyle style;
    for (const StyleField& field : style_fields())
        if (const auto given = o.fields.find(field.name); given != o.fields.end())
            TRY_STATUS(set_field(style, field, given->second));
    const learn::Station& station = *learn::find_station(o.station);
    ThreadPool pool(o.input.threads);
    const std::string output = with_format(o.output, o.format);
    if (is_numbers_path(output) && !o.fields.empty())
        return Error{
            "--" + o.fields.begin()->first +
            " changes the figure and not its numbers; leave it out, or end -o in .png, .svg or .pdf."};
    if (o.fields.count("dpi") && !output.ends_with(".png"))
        return Error{"--dpi goes with a .png; leave it out."};
    TRY_STATUS(check_heard(o, station));
    TRY(learn::Page page, learn_page(o, station, pool));
    if (is_numbers_path(output)) return write_numbers(output, learn::page_numbers(page));
    return write_page(output, learn::draw_learn_page(std::make_shared<const learn::Page>(std::move(page)),
                                                     learn::station_text(station.key), style));
}

/// The fields of the style that a station's page has.
void add_learn_style(CLI::App& app, LearnOptions& o) {
    for (const StyleField& field : style_fields()) {
        const std::string name = field.name;
        const bool wanted = name == "width-mm" || name == "dpi" || name == "font-pt" || name == "colormap" ||
                            name == "title" || name == "caption";
        if (!wanted) continue;
        auto* option = app.add_option_function<std::string>(
            "--" + name, [&o, name](const std::string& text) { o.fields[name] = text; }, field.help);
        if (field.high > 0) option->check(within(field.low, field.high));
    }
}

}  // namespace

std::function<Status()> declare_learn(CLI::App& app) {
    auto o = std::make_shared<LearnOptions>();
    o->input.model.clear();
    add_input_options(app, o->input);
    std::vector<std::string> keys;
    for (const auto& station : learn::stations()) keys.push_back(station.key);
    app.add_option("--station", o->station, "the station to draw")->check(one_of(keys));
    app.add_flag("--list", o->list, "list the stations, one a line, key first");
    app.add_option("--set", o->set, "what the station lets one choose, width=64 for example (repeatable)")
        ->expected(1)
        ->take_all();
    app.add_option(
        "--layer", o->layer,
        "layer of the head, from 0; encoder.0, decoder.0 or cross.0; without --layer and --head the one "
        "that the station begins with");
    app.add_option("--head", o->head, "head, from 0")->check(within(0, 1 << 16));
    app.add_option("--query", o->query, "the query, by its position; the last one otherwise")
        ->check(within(0, 1 << 20));
    app.add_option("--format", o->format, "format where -o is '-' or has no ending")
        ->check(one_of({"png", "svg", "pdf", "csv", "tsv", "json", "npy", "safetensors"}));
    app.add_option(
        "-o,--output", o->output,
        "the file to write: .png, .svg, .pdf; or .csv, .tsv, .json, .npy, .safetensors for its numbers; "
        "'-': standard output");
    add_learn_style(app, *o);
    return [o] { return run_learn(*o); };
}

}  // namespace headlight
