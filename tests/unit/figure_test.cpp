// Tests figures: styles, presets, texts, numbers.
#include "figure/figure.h"

#include <cmath>
#include <limits>

#include "analysis/comparison/words.h"
#include "base/check.h"
#include "figure/colormap.h"
#include "figure/file_formats.h"
#include "helpers.h"
#include "paint/ui.h"
#include "views/page.h"

using namespace headlight;

namespace {
using Words = std::vector<std::string>;

const StyleField& field(std::string_view name) {
    for (const StyleField& f : style_fields())
        if (name == f.name) return f;
    FAIL(name);
    return style_fields()[0];
}
}  // namespace

TEST_CASE("style: every field round-trips; invalid values are refused with its name") {
    for (const StyleField& f : style_fields()) {
        CAPTURE(f.name);
        FigureStyle style;
        CHECK(set_field(style, f, field_text(FigureStyle(), f)));
        CHECK(style == FigureStyle());
        for (const std::string& name : field_names(f)) {
            REQUIRE(set_field(style, f, name));
            CHECK(field_text(style, f) == name);
        }
    }
    FigureStyle style;
    for (const auto& [field_name, bad_text] : {std::pair{"width-mm", "9"},
                                               {"width-mm", "85x"},
                                               {"width-mm", "nan"},
                                               {"width-mm", "1e9"},
                                               {"dpi", "0"},
                                               {"dpi", ""},
                                               {"contrast", "cubic"},
                                               {"labels", "yes"},
                                               {"colormap", "mud"},
                                               {"queries", "rows "},
                                               {"title", "\xFF"}}) {
        const std::string name = field_name, bad = bad_text;
        const Status refused = set_field(style, field(name), bad);
        CHECK_MESSAGE(!refused, name, " ", bad);
        if (!refused) CHECK(refused.error().message.rfind(name, 0) == 0);
    }
    CHECK(style == FigureStyle());
    style.width_mm = 85;
    CHECK(*style.width() == doctest::Approx(85 / 25.4 * 96));
    CHECK(!style.height());
}

TEST_CASE("presets: what a style sets comes back from its file; foreign and broken files are refused") {
    const TemporaryFolder folder;
    FigureStyle style;
    style.width_mm = 85;
    style.values = true;
    style.contrast = Contrast::log;
    style.title = "Größe “1”";
    style.color_bar = false;
    const FigurePreset preset = preset_of("mine", style);
    CHECK(preset.fields.size() == 5);
    REQUIRE(save_preset(folder.path / "p.json", preset));
    const auto back = open_preset(folder.path / "p.json");
    REQUIRE(back);
    FigureStyle read;
    REQUIRE(apply_preset(read, *back));
    CHECK(read == style);
    for (const FigurePreset& built_in : built_in_presets()) {
        FigureStyle s;
        CHECK(apply_preset(s, built_in));
        CHECK(s.width());
    }
    const std::string head = R"({"format": "headlight-figure", "version": 1)";
    CHECK(parse_preset(head + R"(, "width-mm": 85, "values": true})", "p.json"));
    for (const std::string& bad :
         {std::string(), std::string("[]"), std::string("{}"), head + R"(, "width": 85})",
          head + R"(, "width-mm": [85]})", head + R"(, "width-mm": 3})",
          std::string(R"({"format": "headlight-figure", "version": 9})")}) {
        const auto refused = parse_preset(bad, "p.json");
        CHECK_MESSAGE(!refused, bad);
    }
}

TEST_CASE("positions: ranges and single ones, sorted, within the text") {
    CHECK(*read_positions("", 3) == std::vector<int>{0, 1, 2});
    CHECK(*read_positions("4,0-2,1", 5) == std::vector<int>{0, 1, 2, 4});
    for (const char* bad : {"5", "3-1", "-1", "a", "1-", "1,,2", "0-5", ","})
        CHECK_MESSAGE(!read_positions(bad, 5), bad);
}

TEST_CASE("words: pieces of every tokenizer are joined, punctuation and special tokens separate") {
    CHECK(word_numbers(Words{"The", "Ġun", "b", "able", "Ġcat", "fish", "."}) ==
          std::vector<int>{0, 1, 1, 1, 2, 2, 3});
    CHECK(word_numbers(Words{"[CLS]", "the", "un", "##b", "##able", ".", "[SEP]"}) ==
          std::vector<int>{0, 1, 2, 2, 2, 3, 4});
    CHECK(word_numbers(Words{"<s>", "▁T", "he", "▁", "c", "at", "</s>"}) ==
          std::vector<int>{0, 1, 1, 2, 2, 2, 3});
    CHECK(word_numbers(Words{"a", "b"}) == std::vector<int>{0, 1});
    CHECK(join_labels(Words{"un", "##b", "##able", "."}, std::vector<int>{0, 0, 0, 1}) ==
          Words{"unbable", "."});
    CHECK(join_labels(Words{"␣", "c", "at"}, std::vector<int>{0, 0, 0}) == Words{"cat"});
    CHECK(join_labels(Words{"⟨E4 BD⟩", "b"}, std::vector<int>{0, 0}) == Words{"⟨E4 BD⟩b"});
    CHECK(join_labels(Words{"a", "天 1/3", "天 2/3", "天 3/3", "地 1/2", "地 2/2"},
                      std::vector<int>{0, 0, 0, 0, 1, 1}) == Words{"a天", "地"});
    Matrix w(3, 3);
    w << 1, kMasked, kMasked, 0.25f, 0.75f, kMasked, 0.5f, 0.25f, 0.25f;
    const Matrix joined = join_pattern(w, std::vector<int>{0, 1, 1}, std::vector<int>{0, 1, 1});
    Matrix want(2, 2);
    want << 1, kMasked, 0.375f, 0.625f;  // the mean of two queries, the sum of two keys
    CHECK((joined - want).cwiseAbs().maxCoeff() < 1e-6f);
}

TEST_CASE("figures: every choice of style draws, and changes what is drawn") {
    ThreadPool pool(1);
    const auto trace = trace_of(reference_model("gpt2"), {5, 9, 200, 31, 5, 9}, pool);
    const std::string plain = *svg_text(*find_figure("head")->make(trace, {}, pool));
    for (const auto& choice : std::vector<std::pair<const char*, const char*>>{{"width-mm", "85"},
                                                                               {"font-pt", "12"},
                                                                               {"colormap", "viridis"},
                                                                               {"contrast", "log"},
                                                                               {"queries", "columns"},
                                                                               {"marks", "dots"},
                                                                               {"turn-labels", "always"},
                                                                               {"title", ""},
                                                                               {"caption", "mine"},
                                                                               {"labels", "false"},
                                                                               {"color-bar", "false"},
                                                                               {"grid-lines", "true"},
                                                                               {"values", "true"},
                                                                               {"transparent", "true"},
                                                                               {"drop-sink", "true"},
                                                                               {"tokens", "1-3"},
                                                                               {"keys", "0-2"}}) {
        CAPTURE(choice.first);
        FigureOptions options;
        REQUIRE(set_field(options, field(choice.first), choice.second));
        const auto drawn = find_figure("head")->make(trace, options, pool);
        REQUIRE(drawn);
        CHECK(*svg_text(*drawn) != plain);
    }
    FigureOptions some;
    some.heads = "0.1,1.2,1.3";
    const auto few = find_figure("heads")->make(trace, some, pool);
    REQUIRE(few);
    CHECK(*svg_text(*few) != *svg_text(*find_figure("heads")->make(trace, {}, pool)));
    for (const char* bad : {"9.9", ",", "x"}) {
        some.heads = bad;
        CHECK(!find_figure("heads")->make(trace, some, pool));
    }
    const std::string all = *svg_text(*find_figure("heads")->make(trace, {}, pool));
    const auto heads = static_cast<size_t>(trace->config().head_count());
    for (const ManyHeads& many :
         {ManyHeads{.fades = std::vector<float>(heads, 0.5f)},
          ManyHeads{.notes = std::vector<std::string>(heads, "0.25")}, ManyHeads{.notes_are = "entropy"},
          ManyHeads{.own_range = true}, ManyHeads{.square_root = true}}) {
        FigureOptions options;
        options.many = many;
        CHECK(*svg_text(*find_figure("heads")->make(trace, options, pool)) != all);
    }
    FigureOptions beyond;
    beyond.tokens = "0-6";
    CHECK(!find_figure("head")->make(trace, beyond, pool));
    const auto image = draw_image(*find_figure("head")->make(trace, {}, pool), 200, 100);
    REQUIRE(image);
    CHECK((image->width <= 200 && image->height <= 100 &&
           std::max(image->width - 190, image->height - 95) > 0));
}

namespace {
/// Runs a model with one query vector NaN, and with it everything after.
std::shared_ptr<const Trace> broken_trace(ThreadPool& pool) {
    const auto break_row = [](Rows& rows) {
        Matrix values = rows.all();
        values.row(2).setConstant(std::numeric_limits<float>::quiet_NaN());  // not the last, which predicts
        rows = values;
    };
    Trace t = *trace_of(reference_model("gpt2"), {5, 9, 200, 31}, pool);
    auto stack = std::make_shared<StackActivations>(*t.activations.stacks[0]);
    for (auto& layer : stack->layers) {
        auto broken = std::make_shared<LayerActivations>(*layer);
        for (Rows* rows : {&broken->self.q, &broken->self.v, &broken->resid_pre}) break_row(*rows);
        layer = std::move(broken);
    }
    for (Rows* rows : {&stack->resid_final, &stack->normalized}) break_row(*rows);
    t.activations.stacks[0] = std::move(stack);
    return std::make_shared<const Trace>(std::move(t));
}
}  // namespace

TEST_CASE("colors: one index for every value; NaN has its own gray") {
    CHECK(color_index(0) == 0);
    CHECK(color_index(0.5f) == 128);
    CHECK(color_index(-3) == 0);
    CHECK(color_index(std::numeric_limits<float>::infinity()) == 255);
    CHECK(color_index(std::numeric_limits<float>::quiet_NaN()) == kNoNumber);
    const Rgb gray = color_of(colormap("beam", true), std::numeric_limits<float>::quiet_NaN());
    CHECK((gray.r == gray.g && gray.g == gray.b));
    CHECK(decimals(-4.8e-7, 2) == "0.00");
    CHECK(decimals(-0.005001, 2) == "−0.01");
    CHECK(fine_decimals(0.0214, 3) == "0.021");
    CHECK(fine_decimals(1e-7, 3) == "0");  // float32 rounding noise
    CHECK(fine_decimals(-1e-6, 3) == "−1.0e−6");
    CHECK(fine_decimals(9.96e-5, 3) == "1.0e−4");
    CHECK(fine_decimals(4.99e-4, 3) == "5.0e−4");
    CHECK(fine_decimals(5e-4, 3) == decimals(5e-4, 3));
}

TEST_CASE("labels: an invisible token is labeled by its code") {
    const Model bare;
    Sequence s;
    s.tokens = {"\u00A0", "a\u00A0b", " ", "\u200B\uFE0F", " the", ""};
    CHECK(token_labels(bare, s, 0) ==
          std::vector<std::string>{"⟨U+00A0⟩", "a\u00A0b", "␣", "⟨U+200B⟩⟨U+FE0F⟩", "the", ""});
}

TEST_CASE("numbers: from a million on they are short, so that columns do not overlap") {
    CHECK(compact_number(28366907524.8, 1) == "2.84e10");
    CHECK(compact_number(9.996e6, 1) == "1.00e7");
    CHECK(compact_number(-2.5e7, 1) == "−2.50e7");
    CHECK(compact_number(999999, 1) == number(999999, 1));
    CHECK(compact_number(41.389, 2) == "41.39");
    CHECK(compact_number(std::numeric_limits<double>::quiet_NaN(), 2) == "—");
}

TEST_CASE("a pass with NaN is drawn: figures, and every view that does not refuse it, with gray for NaN") {
    ThreadPool pool(2);
    const auto trace = broken_trace(pool);
    for (const Marks marks : {Marks::squares, Marks::dots})
        for (const Contrast contrast :
             {Contrast::range, Contrast::root, Contrast::log, Contrast::percentile, Contrast::row}) {
            FigureOptions o;
            o.marks = marks;
            o.contrast = contrast;
            o.values = marks == Marks::squares;  // refused with dots
            const auto drawing = find_figure("head")->make(trace, o, pool);
            REQUIRE(drawing);
            CHECK(svg_text(*drawing));
        }
    for (size_t v = 0; v < views().size(); ++v) {
        const View& view = views()[v];
        CAPTURE(view.key);
        if (!view.offered(*trace->model) || view.missing(*trace->model)) continue;
        ViewPage page;
        page.view = v;
        size_page(page, 944, 720);
        page.session.selection.locked = std::pair{2, 1};
        const auto drawn = guarded([&]() -> Result<std::string> {
            TRY(RunAnswer answer,
                answer_for({trace, nullptr, nullptr}, {1, 1}, page.session.selection.locked, pool));
            TRY_STATUS(prepare_page(page, std::move(answer), pool));
            TRY(const Drawing drawing, draw_figure(page, pool));
            return svg_text(drawing);
        });
        CHECK_MESSAGE((drawn || drawn.error().message.find("not finite") != std::string::npos),
                      (drawn ? std::string() : drawn.error().message));
    }
}

TEST_CASE("numbers: labels that need quoting, nothing for NaN, one value a line for several tables") {
    const TemporaryFolder folder;
    NumberTable t{"a table", "query", "key", {"x", "\"y,\""}, {"1\t2", "b"}, Matrix(2, 2)};
    t.values << 0.1f, std::numeric_limits<float>::quiet_NaN(), 1e-20f, 3;
    REQUIRE(write_numbers(folder.path / "t.csv", std::vector{t}));
    CHECK(read_bytes(folder.path / "t.csv") == "query\\key,1\t2,b\nx,0.1,\n\"\"\"y,\"\"\",1e-20,3\n");
    CHECK(as_tsv(t) == "query\\key\t1 2\tb\nx\t0.1\t\n\"y,\"\t1e-20\t3\n");
    REQUIRE(write_numbers(folder.path / "t.csv", std::vector{t, t}));
    CHECK(read_bytes(folder.path / "t.csv").find("a table,1,\"\"\"y,\"\"\",1,b,3\n") != std::string::npos);
    for (const char* bad : {"t.txt", "t"}) CHECK(!write_numbers(folder.path / bad, std::vector{t}));
    CHECK(!write_numbers(folder.path / "t.csv", {}));
}

TEST_CASE("style: a font is that of all text, measured and drawn; one that is not there is refused") {
    const double usual = text_width("Lily had a red ball", 12, Face::sans);
    double measured = 0, drawn = 0;
    const auto made = in_font("monospace", [&]() -> Result<Drawing> {
        measured = text_width("Lily had a red ball", 12, Face::sans);
        return Drawing{{100, 100}, [&](Canvas&) { drawn = text_width("iii", 12, Face::sans); }};
    });
    REQUIRE(made);
    CHECK(measured != usual);
    CHECK(text_width("Lily had a red ball", 12, Face::sans) == usual);
    REQUIRE(svg_text(*made));
    const FontScope scope("monospace");
    CHECK(drawn == doctest::Approx(text_width("MMM", 12, Face::sans)));
    const auto missing = in_font("No Such Font", [] { return Result<Drawing>(Drawing{}); });
    REQUIRE(!missing);
    CHECK_MESSAGE(missing.error().message.starts_with("The font \"No Such Font\" is not installed"),
                  missing.error().message);
}
