// Clamps and answers questions.
#include "questions/questions.h"

namespace headlight {

Question clamped(const Question& question, const Trace& trace) {
    Question out = question;
    std::visit(
        [&](auto& asked) {
            if constexpr (requires { asked.clamp_to(trace); }) asked.clamp_to(trace);
        },
        out);
    return out;
}

}  // namespace headlight
