// Draws an animation: layer by layer, or token by token while the text grows.
#include <algorithm>

#include "analysis/prediction/generate.h"
#include "base/cast.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "cli/usage.h"
#include "figure/file_formats.h"
#include "io/apng.h"

namespace headlight {

namespace {

using Frames = std::vector<std::function<Result<Drawing>(ThreadPool&)>>;

/// Draws the same head in every layer of its kind.
Frames layer_frames(const RenderOptions& o, const std::shared_ptr<const Trace>& trace) {
    Frames out;
    const ModelConfig& c = trace->config();
    for (int block = 0; block < c.blocks(); ++block) {
        if (c.block(block).kind != c.block(o.figure.block).kind) continue;
        RenderOptions one = o;
        one.figure.block = block;
        out.push_back([one, trace](ThreadPool& pool) { return drawing_of(one, trace, pool); });
    }
    return out;
}

/// Draws the text up to each of its tokens; of two texts, the output. Frames share one cell size.
Result<Frames> token_frames(RenderOptions o, std::shared_ptr<const Trace> trace, ThreadPool& pool) {
    if (!trace->has_weights())
        return Error{"A trace cannot be run for each token; try --animate layers, or give --model."};
    if (trace->config().can.read_image)
        return Error{"An image has no sequence of tokens to animate; try --animate layers."};
    if (o.generate > 0) {
        ForwardRequest longer = trace->request;
        TRY(const auto added, generated_ids(trace->model, trace->request, {{}, o.generate, {}}, pool));
        if (trace->config().can.fill_masks)
            return Error{trace->model->name + " fills masks and adds no tokens; leave --generate out."};
        for (const int id : added) append_token(*trace->model, longer.inputs.back(), id);
        TRY(trace, run_trace(trace->model, std::move(longer), pool));
    }
    TRY(const Drawing last, drawing_of(o, trace, pool));
    o.figure.most_cell = last.cell;
    Frames out;
    for (int count = 1; count <= trace->output().size(); ++count)
        out.push_back([o, trace, count](ThreadPool& own) -> Result<Drawing> {
            ForwardRequest shorter = trace->request;
            Sequence& s = shorter.inputs.back();
            s.ids.resize(count);
            s.tokens.resize(count);
            if (!s.types.empty()) s.types.resize(count);
            TRY(const auto part, run_trace(trace->model, std::move(shorter), own, nullptr, trace.get()));
            return drawing_of(o, part, own);
        });
    return out;
}

Drawing on_page(const Drawing& drawing, const Page& page, bool transparent) {
    return {page, [drawing, page, transparent](Canvas& canvas) {
                if (!transparent) canvas.fill_rect(0, 0, page.width, page.height, PageColors{}.page);
                drawing.draw(canvas);
            }};
}

}  // namespace

Status render_animation(RenderOptions o) {
    if (o.all_heads) return Error{"--animate shows one head; leave --all-heads out."};
    if (o.numbered)
        TRY_STATUS(refuse_given(o.given, {"delay"}, "an animation, and --numbered makes figures"));
    if (o.animate == "layers") TRY_STATUS(refuse_given(o.given, {"generate"}, "--animate tokens"));
    if (!o.numbered && std::filesystem::path(o.output).extension() != ".png")
        return Error{"An animation is a .png; end the name so, or add --numbered for one figure per frame."};
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_input(o.input, pool));
    TRY_STATUS(choose_place(o, *trace));
    Frames frames;
    if (o.animate == "layers") {
        frames = layer_frames(o, trace);
    } else {
        TRY(frames, token_frames(o, trace, pool));
    }
    TRY(const Drawing widest, frames.back()(pool));
    Page page = widest.page;
    if (frames.size() > 1) {
        TRY(const Drawing first, frames.front()(pool));
        page.width = std::max(page.width, first.page.width);
        page.height = std::max(page.height, first.page.height);
    }
    Progress progress(isize(frames), o.input.quiet);
    const auto draw = [&](size_t i) -> Result<Drawing> {
        TRY(const Drawing drawing, frames[i](pool));
        progress.step();
        return on_page(drawing, page, o.figure.transparent);
    };
    if (!o.numbered)
        return write_apng(o.output, isize(frames), o.delay, [&](int i) -> Result<PngPixels> {
            TRY(const Drawing drawing, draw(i));
            return draw_pixels(drawing, o.figure.transparent);
        });
    for (size_t i = 0; i < frames.size(); ++i) {
        TRY(const Drawing drawing, draw(i));
        TRY_STATUS(write_page(with_suffix(o.output, padded(i + 1, frames.size())), drawing));
    }
    return success();
}

}  // namespace headlight
