// Computes the station "Beyond language".
#include "learn/stations/pictures.h"

#include <algorithm>
#include <cmath>

#include "analysis/prediction/predict.h"
#include "base/draws.h"
#include "base/embedded.h"
#include "base/quoted.h"
#include "io/numbers.h"
#include "learn/page_parts.h"
#include "model/picture.h"

namespace headlight::learn {

namespace {

struct CutPicture {
    RgbImage image;
    int patch = 16, across = 0, down = 0;
    bool by_model = false;  // cut as a vision model does

    /// Returns the selected patch, not counting a class token; else the one that varies most.
    int chosen(int query) const {
        if (by_model && query > 0 && query <= across * down) return query - 1;
        int best = 0;
        float max = -1;
        for (int i = 0; i < across * down; ++i) {
            const Matrix values = patch_brightness(image, patch, i / across, i % across);
            const float varies = (values.array() - values.mean()).square().mean();
            if (varies > max) best = i;
            max = std::max(max, varies);
        }
        return best;
    }
};

bool sees_pictures(const StationInput& in) {
    return in.trace && in.trace->config().can.read_image && in.trace->has_weights() &&
           in.trace->request.inputs[0].picture;
}

/// Resizes to a square, as vision models do.
RgbImage squared(const RgbImage& image, int side) {
    return image.width == side && image.height == side ? image
                                                       : resize(image, side, side, Resampling::bilinear);
}

/// Opens the user's picture, if one is named; null: none.
Result<std::shared_ptr<const RgbImage>> own_picture(const StationInput& in, const PicturesState& state) {
    if (state.picture.empty()) return in.image;
    TRY(RgbImage image, open_image(state.picture));
    return std::make_shared<const RgbImage>(std::move(image));
}

CutPicture cut_picture(const StationInput& in, const PicturesState& state,
                       const std::shared_ptr<const RgbImage>& own) {
    CutPicture out;
    if (sees_pictures(in)) {
        const VisionConfig& v = in.trace->config().vision;
        out.image = in.trace->request.inputs[0].picture->image;
        out.patch = v.patch;
        out.by_model = true;
    } else {
        out.patch = state.patch;
        const int side = 224 / out.patch * out.patch;
        out.image = own ? squared(*own, side) : sample_picture(side);
    }
    out.across = out.image.width / out.patch;
    out.down = out.image.height / out.patch;
    return out;
}

/// Shrinks to a size that can be drawn.
RgbImage shown(const RgbImage& image) {
    return image.width <= kMaxPixels ? image : resize(image, kMaxPixels, kMaxPixels, Resampling::bilinear);
}

Grid patch_grid(const CutPicture& cut, int chosen) {
    const int row = chosen / cut.across, column = chosen % cut.across;
    return {.title = "Patch " + std::to_string(row) + "," + std::to_string(column) + ", brightness",
            .rows = counted(cut.patch),
            .columns = counted(cut.patch),
            .values = patch_brightness(cut.image, cut.patch, row, column)};
}

Table token_table(const CutPicture& cut) {
    Table out{.title = "A picture as a text", .columns = {"", "how many"}};
    const int patches = cut.across * cut.down;
    add_cells(out, {words_cell("patches: the words"), count_cell(patches)});
    add_cells(out, {words_cell("numbers of a patch: red, green and blue of its pixels"),
                    count_cell(3 * cut.patch * cut.patch)});
    add_cells(out, {words_cell("tokens, with the class token"), count_cell(patches + 1)});
    add_cells(out, {words_cell("scores of one head: each token with each"),
                    count_cell(int64_t{patches + 1} * (patches + 1))});
    return out;
}

/// Shows the attention of a vision model's token, patch by patch.
Pixels attention_over(const StationInput& in) {
    const int query = std::clamp(in.query, 0, in.trace->query_count(in.block) - 1);
    const Matrix row = in.trace->pattern_rows(in.block, in.head, query, 1);
    const std::string who =
        query == 0 ? "The class token" : "Patch " + in.trace->request.inputs[0].tokens[query];
    return weights_on_picture(*in.trace,
                              who + " looks at, head " + head_name(in.trace->config(), in.block, in.head),
                              {row.data(), row.data() + row.size()});
}

Table class_table(const StationInput& in, ThreadPool& pool) {
    Table out{.title = "What it sees", .columns = {"class", "probability"}};
    for (const Prediction& p : predictions(*in.trace, predicting_positions(*in.trace)[0], 5, pool))
        add_cells(out, {words_cell(prediction_label(*in.trace->model, p.id)),
                        number_cell(double(p.probability), 3)});
    return out;
}

/// Returns the mean weight of each patch in the class token's rows of all heads.
Vector looked_at(const Trace& trace) {
    Vector out = Vector::Zero(trace.request.inputs[0].size());
    for (int block = 0; block < trace.config().blocks(); ++block)
        for (int head = 0; head < trace.config().heads(block); ++head)
            out += trace.pattern_rows(block, head, 0, 1).row(0).transpose();
    return out.tail(out.size() - 1) / float(trace.config().head_count());
}

/// Runs the picture with some patches alone: the others have its mean color.
Result<float> seen_alone(const StationInput& in, std::span<const int> seen, int answer, ThreadPool& pool) {
    ForwardRequest request = in.trace->request;
    const Picture& whole = *request.inputs[0].picture;
    auto part = std::make_shared<Picture>(whole);
    const Index color = whole.patches.cols() / 3;
    for (int c = 0; c < 3; ++c)
        part->patches.middleCols(c * color, color)
            .setConstant(whole.patches.middleCols(c * color, color).mean());
    for (const int patch : seen) part->patches.row(patch) = whole.patches.row(patch);
    request.inputs[0].picture = std::move(part);
    TRY(const auto trace, run_trace(in.trace->model, std::move(request), pool, in.cancel));
    return probabilities_at(*trace, predicting_positions(*trace)[0], pool)[answer];
}

/// Plots the answer from a few glimpses: those that the class token looks at most, and as many at random.
Result<Curves> glimpses(const StationInput& in, ThreadPool& pool) {
    constexpr int kDraws = 4;
    const int at = predicting_positions(*in.trace)[0], answer = predictions(*in.trace, at, 1, pool)[0].id;
    const Vector looked = looked_at(*in.trace);
    const auto patches = narrow<int>(looked.size());
    const std::vector<int> best = ranked_ids(looked, patches);
    Curves out{.title = "Glimpses: a few patches are seen, the others are blank",
               .x_is = "patches seen",
               .y_is = "p of " + in_quotes(prediction_label(*in.trace->model, answer))};
    Curves::Line most = line_of("those that the class token looks at most", {}, {}),
                 random = line_of("as many at random, mean of " + std::to_string(kDraws), {}, {}, true);
    Draws draws(1);
    for (int seen = 1;; seen = std::min(2 * seen, patches)) {
        TRY(const float p, seen_alone(in, std::span(best).first(size_t(seen)), answer, pool));
        float mean = 0;
        for (int i = 0; i < kDraws; ++i) {
            const std::vector<int> any = shuffled(patches, draws);
            TRY(const float one, seen_alone(in, std::span(any).first(size_t(seen)), answer, pool));
            mean += one / kDraws;
        }
        for (Curves::Line* line : {&most, &random}) line->x.push_back(float(seen));
        most.y.push_back(p);
        random.y.push_back(mean);
        if (seen == patches) break;
    }
    out.lines = {std::move(most), std::move(random)};
    return out;
}

}  // namespace

Pixels weights_on_picture(const Trace& trace, const std::string& title, const std::vector<float>& weights) {
    const Picture& picture = *trace.request.inputs[0].picture;
    const auto [first, count, rows, columns] = picture.grid;
    return {title, shown(picture.image), rows, columns, {weights.begin() + first, weights.end()}};
}

RgbImage sample_picture(int side) {
    const std::string_view bytes = embedded_file("assets/samples/scene.png");
    return squared(*decode_image(std::as_bytes(std::span(bytes)), "scene.png"), side);
}

Matrix patch_brightness(const RgbImage& image, int patch, int row, int column) {
    HEADLIGHT_CHECK((row + 1) * patch <= image.height && (column + 1) * patch <= image.width);
    Matrix out(patch, patch);
    for (int y = 0; y < patch; ++y)
        for (int x = 0; x < patch; ++x) {
            const size_t at = (size_t(row * patch + y) * image.width + column * patch + x) * 3;
            out(y, x) = float(image.rgb[at] + image.rgb[at + 1] + image.rgb[at + 2]) / (3 * 255);
        }
    return out;
}

void PicturesState::visit(ControlVisitor& v) {
    v.whole("patch", "Patch", patch, 4, 112);
    v.text("picture", "Picture file", picture);
}

Result<Page> pictures_page(const StationInput& input, const PicturesState& state, ThreadPool& pool) {
    Page page;
    TRY(const auto own, own_picture(input, state));
    const CutPicture cut = cut_picture(input, state, own);
    const std::string size = std::to_string(cut.down) + " × " + std::to_string(cut.across);
    page.note =
        size + " patches of " + std::to_string(cut.patch) + " × " + std::to_string(cut.patch) + " pixels";
    page.blocks = {Pixels{cut.by_model || own ? "The picture in patches" : "A sample in patches",
                          shown(cut.image),
                          cut.down,
                          cut.across,
                          {}}};
    const bool looks = cut.by_model && input.trace->config().has_head({input.block, input.head});
    if (looks) page.blocks.push_back(attention_over(input));
    page.blocks.push_back(patch_grid(cut, cut.chosen(input.query)));
    if (looks && input.trace->model->has_logits()) {
        page.blocks.push_back(class_table(input, pool));
        constexpr int kMaxGlimpsed = 64;  // each point takes runs of its own
        if (cut.across * cut.down <= kMaxGlimpsed) {
            TRY(Curves curves, glimpses(input, pool));
            page.blocks.push_back(std::move(curves));
        }
    }
    if (cut.by_model) page.idle.push_back({"patch", ""});
    page.blocks.push_back(token_table(cut));
    if (!cut.by_model)
        page.blocks.push_back(Words{
            "To see what heads look at in it, open the built-in model scenes, or another vision transformer: "
            "google/vit-base-patch16-224 for example. Then drop a picture on the window or name it with "
            "--image."});
    return page;
}

}  // namespace headlight::learn
