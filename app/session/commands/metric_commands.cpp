// Commands of the metric, which all views share.
#include "base/quoted.h"
#include "session/commands/commands.h"

namespace headlight {

const char* needs_logits(const CommandContext& c) {
    if (const char* missing = needs_model_to_run(c)) return missing;
    return c.model()->has_logits() ? nullptr : "This model has no head that predicts tokens.";
}

namespace {

void explain(CommandContext& c, const Metric& metric) {
    c.session.document.explain({metric_name(*c.model(), metric), metric});
}

/// Parses with parse_metric; rejects a position that the text lacks.
Status choose_metric(CommandContext& c, const std::string& words) {
    TRY(const Metric metric, parse_metric(*c.model(), words, c.sentence()->trace.get()));
    const int n = c.sentence()->trace->output().size();
    if (metric.position >= n)
        return Error{"The metric is taken at position " + std::to_string(metric.position) +
                     ", but the text has positions 0 … " + std::to_string(n - 1) + "."};
    explain(c, metric);
    return success();
}

/// Parses "12"; empty: where the model predicts.
Status choose_position(CommandContext& c, const std::string& words) {
    const int n = c.sentence()->trace->output().size();
    const auto position = words.empty() ? std::optional(-1) : whole_of(words);
    if (!position || *position < -1 || *position >= n)
        return Error{"There is no position " + in_quotes(words) + "; the text has positions 0 … " +
                     std::to_string(n - 1) + "."};
    Metric metric = c.session.document.metric.metric;
    metric.position = *position;
    explain(c, metric);
    return success();
}

/// Explains a token: its log p where the model predicts it.
Status explain_token(CommandContext& c, const std::string& words) {
    const Sequence& tokens = c.sentence()->trace->output();
    const auto at = whole_of(words);
    if (!at || *at < 0 || *at >= tokens.size())
        return Error{"There is no token " + in_quotes(words) + "; the text has positions 0 … " +
                     std::to_string(tokens.size() - 1) + "."};
    const bool masked = c.model()->config.can.fill_masks;
    if (*at == 0 && !masked)
        return Error{"Nothing comes before the first token, so the model does not predict it."};
    const int position = masked ? *at : *at - 1;
    explain(c, {MetricKind::log_probability, tokens.ids[*at], -1, position});
    return success();
}

const char* needs_text_output(const CommandContext& c) {
    if (const char* missing = needs_logits(c)) return missing;
    return c.model()->config.can.read_image ? "Image patches are not predicted." : nullptr;
}

}  // namespace

std::vector<Command> metric_commands() {
    return in_group("Intervene",
                    {row({"metric [default|log p|p|logit|kl|A - B|KIND TOKEN@POSITION]", "Metric",
                          "what to explain: ball (its logit), p(ball), log p(ball), ball - car, kl; @12: "
                          "at a position"},
                         choose_metric, needs_logits),
                     row({"metric position [POSITION]", "Metric: position",
                          "take the metric at a position; without one, where the model predicts"},
                         choose_position, needs_logits)});
}

Command explain_row() {
    return row({"explain POSITION", "Explain a token", "use the log p of this token as the metric"},
               explain_token, needs_text_output);
}

}  // namespace headlight
