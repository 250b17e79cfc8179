#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/options.h"
#include "cli/render.h"
#include "cli/validators.h"
#include "cli/verbs.h"
#include "figure/file_formats.h"
#include "io/json.h"
#include "io/output_file.h"
#include "learn/controls.h"
#include "learn/numbers.h"
#include "learn/stations/pictures.h"
#include "views/interactive_page.h"
#include "views/learn/learn_page.h"

namespace headlight {

namespace {

struct LearnOptions {
    InputOptions input;
    std::string station, output, format, layer;
    std::vector<std::string> set;
    GivenStyle style;
    int head = -1, query = -1;  // −1: the station's first head, the last query
    bool list = false, json = false;
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

/// Reads the sentence from its file, or takes the station's sample if none is given.
Status choose_sentence(InputOptions& input, const learn::Station& station) {
    std::string& text = input.typed.text;
    if (!input.text_file.empty()) {
        TRY(text, read_text(input.text_file));
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
        input.text_file.clear();
        return success();
    }
    if (text.empty() && input.typed.ids.empty() && input.chat.empty())
        text = learn::station_text(station.key).sample;
    return success();
}

Result<std::shared_ptr<const RgbImage>> learn_picture(const InputOptions& input) {
    if (input.image.empty()) return std::shared_ptr<const RgbImage>();
    TRY(RgbImage image, open_image(input.image));
    return std::make_shared<const RgbImage>(std::move(image));
}

/// Runs the sentence (a vision model: the picture) in the named model or the station's; null: none needed.
Result<std::shared_ptr<const Trace>> learn_trace(InputOptions input, const learn::Station& station,
                                                 const std::shared_ptr<const RgbImage>& image,
                                                 ThreadPool& pool) {
    if (input.model.empty()) input.model = station.opens;
    if (input.model.empty() && !input.chat.empty()) input.model = InputOptions().model;
    if (input.model.empty() && input.adapter.empty()) return std::shared_ptr<const Trace>();
    TRY(const auto model, open_model(input));
    input.image.clear();
    if (model->config.can.read_image) {
        if (input.typed.text == learn::station_text(station.key).sample) input.typed.text.clear();
        input.typed.image = image ? image : std::make_shared<const RgbImage>(learn::sample_picture());
    }
    TRY(ForwardRequest request, read_request(input, model, pool));
    return run_trace(model, std::move(request), pool);
}

/// Returns the named head; none if none is named.
Result<std::optional<AttentionHead>> learn_head(const LearnOptions& o, const Trace& trace) {
    if (o.layer.empty() && o.head < 0) return std::optional<AttentionHead>();
    AttentionHead out{0, std::max(0, o.head)};
    TRY(out.block, parse_block(trace.config(), o.layer.empty() ? "0" : o.layer));
    if (trace.config().has_head(out)) return std::optional(out);
    return Error{"There is no head " + std::to_string(out.head) + " in layer " +
                 block_path(trace.config(), out.block) + " of " + trace.model->name + "; correct --head."};
}

/// Holds the input and state of a page.
struct LearnRun {
    learn::StationInput input;
    std::shared_ptr<const Trace> trace;
    std::any state;
    bool found = false;  // the head is the station's choice
};

Result<LearnRun> learn_state(LearnOptions& o, const learn::Station& station, ThreadPool& pool) {
    LearnRun out;
    TRY_STATUS(choose_sentence(o.input, station));
    TRY(out.input.image, learn_picture(o.input));
    TRY(out.trace, learn_trace(o.input, station, out.input.image, pool));
    out.input.text = o.input.typed.text;
    out.input.query = o.query;
    if (out.trace) {
        out.input.trace = out.trace.get();
        out.input.model = out.trace->model.get();
        TRY(const auto chosen, learn_head(o, *out.trace));
        const auto [cell, found] = learn::station_start(station, *out.trace, chosen, o.query, pool);
        std::tie(out.input.block, out.input.head) = std::pair{cell.head.block, cell.head.head};
        out.input.query = cell.query;
        out.input.ground = cell.ground;
        out.found = found;
    }
    out.state = station.first_state();
    for (const std::string& assignment : o.set)
        TRY_STATUS(learn::set_control(station, out.state, assignment));
    return out;
}

Drawing drawn(learn::Page page, const learn::Station& station, const FigureStyle& style) {
    return learn::draw_learn_page(std::make_shared<const learn::Page>(std::move(page)),
                                  learn::station_text(station.key), style);
}

/// Limits the other heads and queries that a page is compared with.
constexpr int kMaxOthers = 16;

std::vector<learn::StationInput> with_other_heads(const learn::StationInput& in) {
    std::vector<learn::StationInput> out;
    const int blocks = in.trace ? in.trace->config().blocks() : 0;
    for (int i = 0; i < blocks; ++i)
        for (int head = 0; head < in.trace->config().heads((in.block + i) % blocks); ++head) {
            const int block = (in.block + i) % blocks;
            if ((block == in.block && head == in.head) || isize(out) == kMaxOthers) continue;
            out.push_back(in);
            std::tie(out.back().block, out.back().head) = std::pair{block, head};
        }
    return out;
}

std::vector<learn::StationInput> with_other_queries(const learn::StationInput& in) {
    std::vector<learn::StationInput> out;
    const int queries = in.trace ? in.trace->query_count(in.block) : kMaxOthers;
    for (int query = 0; query < queries && isize(out) < kMaxOthers; ++query) {
        if (query == in.query_of(queries)) continue;
        out.push_back(in);
        out.back().query = query;
    }
    return out;
}

/// Returns whether any of the other inputs changes the page.
Result<bool> differs(const learn::Station& station, const LearnRun& of, const learn::Page& page,
                     const std::vector<learn::StationInput>& others, ThreadPool& pool) {
    TRY(const std::string shown, svg_text(drawn(page, station, {})));
    for (const learn::StationInput& other : others) {
        auto computed = learn::station_page(station, other, of.state, pool);
        if (!computed) return true;
        TRY(const std::string text, svg_text(drawn(*std::move(computed), station, {})));
        if (text != shown) return true;
    }
    return others.empty() && of.trace;
}

/// Refuses a head or query that changes nothing on the page.
Status check_heard(const LearnOptions& o, const learn::Station& station, const LearnRun& of,
                   const learn::Page& page, ThreadPool& pool) {
    const std::string at = " is not used by the station " + std::string(station.key) +
                           (o.set.empty() ? "" : " as you set it") + "; leave it out.";
    if (!o.layer.empty() || o.head >= 0) {
        TRY(const bool heard, differs(station, of, page, with_other_heads(of.input), pool));
        if (!heard) return Error{std::string(o.head >= 0 ? "--head" : "--layer") + at};
    }
    if (o.query >= 0) {
        TRY(const bool heard, differs(station, of, page, with_other_queries(of.input), pool));
        if (!heard) return Error{"--query" + at};
    }
    return success();
}

std::string question_text(const learn::PageQuestion& question) {
    std::string out;
    for (int i = 0; i < isize(question.cards); ++i) {
        const learn::GuessCard& card = question.cards[i];
        out += (i ? "" : question.text + "\n") + "  " + std::to_string(i + 1) + "  " + card.label;
        if (!card.place.empty()) out += " " + card.place;
        out += ": " + card.reason + (card.shown.empty() ? "" : ", " + card.shown) + "\n";
    }
    if (question.asks()) out += "Answer: " + std::to_string(question.right + 1) + "\n";
    out += question.finding + "\n";
    return question.why.empty() ? out : out + question.why + "\n";
}

/// Writes the station's head and questions as text.
std::string questions_text(const learn::Station& station, const LearnRun& run, const learn::Page& page) {
    std::string out = learn::station_text(station.key).title;
    if (run.trace && station.first_head)
        out += ", head " + head_name(run.trace->config(), run.input.block, run.input.head) +
               (run.found ? ", found by this station" : "");
    out += "\n";
    for (const learn::PageQuestion& question : page.questions) out += "\n" + question_text(question);
    if (page.questions.empty()) out += "\nThis sentence leaves nothing to ask; -o draws the page.\n";
    return out;
}

Json question_json(const learn::PageQuestion& question) {
    Json cards = Json::array();
    for (const learn::GuessCard& card : question.cards)
        cards.push_back({{"label", card.label},
                         {"place", card.place},
                         {"reason", card.reason},
                         {"value", card.value},
                         {"shown", card.shown}});
    return {{"question", question.text},
            {"cards", std::move(cards)},
            {"right", question.right},
            {"finding", question.finding},
            {"why", question.why}};
}

std::string questions_json(const learn::Station& station, const LearnRun& run, const learn::Page& page) {
    Json out{{"station", station.key}, {"questions", Json::array()}};
    if (run.trace && station.first_head) {
        out["head"] = head_name(run.trace->config(), run.input.block, run.input.head);
        out["query"] = run.input.query;
        out["found"] = run.found;
    }
    for (const learn::PageQuestion& question : page.questions)
        out["questions"].push_back(question_json(question));
    return json_answer(out);
}

/// Says what the station asks and finds, without a file.
Status say_questions(const LearnOptions& o, const learn::Station& station, const LearnRun& run,
                     const learn::Page& page) {
    if (!o.format.empty()) return Error{"--format goes with -o; leave it out, or name a file."};
    return o.json ? print_json(questions_json(station, run, page))
                  : print(questions_text(station, run, page));
}

/// Writes the station as an interactive page, beside the heads of the run that it computes with.
Status write_learn_page(const std::string& output, const learn::Station& station, const LearnRun& run,
                        learn::Page page, const FigureStyle& style, ThreadPool& pool) {
    TRY_STATUS(check_font(style.font));
    const FontScope font(style.font);
    const learn::StationText& text = learn::station_text(station.key);
    TRY(PageFigure figure,
        learn::learn_page_figure(std::make_shared<const learn::Page>(std::move(page)), text, style));
    PageContents contents;
    contents.title = style.title == "auto" ? text.title : style.title;
    contents.view = figure.key;
    contents.exact = style.exact;
    contents.trace = run.trace.get();
    if (run.trace) {
        contents.block = run.input.block;
        contents.head = run.input.head;
        TRY_STATUS(add_short_lens(contents, pool));
    }
    contents.figures.push_back(std::move(figure));
    TRY(const std::string html, page_html(contents, pool));
    return write_file(output, html);
}

Status run_learn(LearnOptions o) {
    if (o.list) return print(station_list());
    if (o.station.empty())
        return Error{"Name a station, headlight learn positions for example; --list names the stations."};
    FigureStyle style;
    TRY_STATUS(set_given(style, o.style));
    if (o.output.empty() && !o.style.empty())
        return Error{"--" + o.style.begin()->first + " changes the figure; name its file with -o."};
    if (!o.output.empty() && o.json)
        return Error{"--json is of what is printed without -o; leave it out, or end -o in .json."};
    const learn::Station& station = *learn::find_station(o.station);
    ThreadPool pool(o.input.threads);
    const std::string output = with_format(o.output, o.format);
    if (is_numbers_path(output) && !o.style.empty())
        return Error{"--" + o.style.begin()->first +
                     " changes the figure and not its numbers; leave it out, or end -o in " +
                     endings_of(FormatKind::picture) + "."};
    if (o.style.count("dpi") && !output.ends_with(".png"))
        return Error{"--dpi goes with a .png; leave it out."};
    if (o.style.count("exact") && !is_html_path(output))
        return Error{"--exact goes with a page, x.html; leave it out."};
    if (o.style.count("transparent") && is_html_path(output))
        return Error{"--transparent goes with a figure, and a page has a ground of its own; leave it out."};
    TRY(const LearnRun state, learn_state(o, station, pool));
    TRY(learn::Page page, learn::station_page(station, state.input, state.state, pool));
    TRY_STATUS(check_heard(o, station, state, page, pool));
    if (o.output.empty()) return say_questions(o, station, state, page);
    if (is_numbers_path(output)) return write_numbers(output, learn::page_numbers(page));
    if (is_html_path(output)) return write_learn_page(output, station, state, std::move(page), style, pool);
    TRY(const Drawing drawing,
        in_font(style.font, [&] { return Result<Drawing>(drawn(std::move(page), station, style)); }));
    return write_page(output, drawing);
}

}  // namespace

std::function<Status()> declare_learn(CLI::App& app) {
    auto o = std::make_shared<LearnOptions>();
    o->input.model.clear();
    add_input_options(app, o->input);
    std::vector<std::string> keys;
    for (const auto& station : learn::stations()) keys.push_back(station.key);
    app.add_option("station,--station", o->station,
                   "the station; without -o its question, answer and finding are printed")
        ->check(one_of(keys));
    app.add_flag("--json", o->json, "print the question, answer and finding as JSON");
    app.add_flag("--list", o->list, "list the stations, one per line, key first");
    app.add_option("--set", o->set, "set a control of the station, width=64 for example (repeatable)")
        ->expected(1)
        ->take_all();
    add_head_options(app, o->layer, o->head, " (default: the station's own choice)");
    app.add_option("--query", o->query, "position of the query (default: the last)")
        ->check(within(0, 1 << 20));
    add_format_options(app, o->format, o->output, ", or .html for an interactive page; '-': standard output");
    for (const StyleField& field : style_fields())
        if (acts_on_figure(field.name, "learn")) add_style_option(app, o->style, field);
    return [o] { return run_learn(*o); };
}

}  // namespace headlight
