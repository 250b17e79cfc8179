// Declares what computes for a model whose weights are elsewhere.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "base/threads.h"
#include "model/model.h"
#include "tokenizer/post_processor.h"

namespace headlight {

struct ForwardRequest;  // trace/trace.h
struct Picture;
struct RgbImage;
struct Intervention;
struct Trace;

/// Names a tensor of a trace (docs/traces.md), with its rows and columns.
struct NamedShape {
    std::string name;
    Index rows = 0, columns = 0;
};

/// Holds a text beside an image, as an engine reads it.
struct PictureEncoding {
    Encoding text;
    std::shared_ptr<const Picture> picture;
};

/// Answers for a model without weights (Model::engine). Any thread may ask; a question whose `cancel` is set
/// returns soon, and a tokenization that takes half a minute fails.
class Engine {
public:
    virtual ~Engine() = default;

    /// Returns who computes, for users: "transformers 5.24.0, torch 2.13.0, cpu, bfloat16".
    virtual std::string runs_on() const = 0;
    /// Returns whether it still answers.
    virtual bool is_there() const = 0;
    /// Returns whether the rows of a causal pass stay as they are when its text goes on.
    virtual bool keeps_rows() const = 0;
    /// [rows, vocab]: computes the logits of rows of the residual stream after the last layer.
    virtual Result<Matrix> logits(ConstMatrixRef rows, const CancelFlag* cancel) = 0;
    /// Returns the most probable token of each row, and its probability.
    virtual Result<std::vector<std::pair<int, float>>> most_probable(ConstMatrixRef rows,
                                                                     const CancelFlag* cancel) = 0;
    /// Tokenizes a text, or two (tokenizer/tokenizer.h).
    virtual Result<Encoding> encode(const std::string& text, const std::string& pair, bool special) = 0;
    /// Reads an image with a text, or alone. The same image has the same picture, for as long as its patches
    /// stay at their place.
    virtual Result<PictureEncoding> encode_picture(const std::string& text,
                                                   const std::shared_ptr<const RgbImage>& image,
                                                   bool special) = 0;
    /// Tokenizes what the decoder beside an encoder reads, without its start token.
    virtual Result<Encoding> encode_target(const std::string& text) = 0;
    /// Runs a request as run_trace does. Rows of `past` serve where they cannot have changed.
    virtual Result<std::shared_ptr<const Trace>> run(const std::shared_ptr<const Model>& model,
                                                     ForwardRequest request, const Trace* past,
                                                     const CancelFlag* cancel) = 0;
    /// [intervention, vocab]: computes the logits at a position of the output under each intervention, which
    /// have the mask of the run's own; no activation crosses.
    virtual Result<Matrix> logits_under(const Trace& run, const std::vector<const Intervention*>& changed,
                                        int position, const CancelFlag* cancel) = 0;
    /// Computes the gradients of a metric by tensors of the run of a trace. `metric`: as docs/engine.md
    /// spells it; each tensor as [rows, columns].
    virtual Result<std::vector<Matrix>> gradients(const Trace& trace, const std::string& metric,
                                                  const std::vector<NamedShape>& by,
                                                  const CancelFlag* cancel) = 0;
    /// [n, heads · d_value]: computes a block's z in the run of a trace, which does not hold its values.
    virtual Result<Matrix> z(const Trace& trace, int block, const CancelFlag* cancel) = 0;

    /// Returns why its weights do not come here, in a sentence, or "": then the others below answer.
    virtual const std::string& withheld() const = 0;
    /// Returns the whole configuration of its model, which that of a model without weights is a part of.
    virtual const ModelConfig& full_config() const = 0;
    /// Returns its model with weights, fetched when first asked for, and again once they are others.
    virtual Result<std::shared_ptr<const Model>> with_weights(const CancelFlag* cancel) = 0;
    /// Says for users how far its weights have come, "" where none are on their way.
    virtual std::string fetching() const = 0;
    /// Returns a number that differs once its weights are others; of the newest pass.
    virtual int64_t weights_version() const = 0;
    /// Returns what `run` makes of the request of a trace in that model, or made before.
    using RunHere = std::function<Result<std::shared_ptr<const Trace>>(
        const std::shared_ptr<const Model>& model, const Trace* past)>;
    virtual Result<std::shared_ptr<const Trace>> run_here(const Trace& trace, const RunHere& run,
                                                          const CancelFlag* cancel) = 0;
};

/// Returns whether questions that need weights can be answered: here, or fetched.
inline bool weights_come(const Model& model) {
    return !model.weights.stacks.empty() || (model.engine && model.engine->withheld().empty());
}
/// Returns a number that differs once a model's weights are others: those that are here stay as they are.
inline int64_t weights_version(const Model& model) {
    return model.engine ? model.engine->weights_version() : 0;
}
/// Says how far a model's weights have come, "" where none are on their way.
inline std::string fetching_of(const Model* model) {
    return model && model->engine ? model->engine->fetching() : "";
}
/// Returns a model's configuration wherever its weights are.
inline const ModelConfig& full_config(const Model& model) {
    return model.engine && model.engine->withheld().empty() ? model.engine->full_config() : model.config;
}

}  // namespace headlight
