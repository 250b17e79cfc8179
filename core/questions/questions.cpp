#include "questions/questions.h"

namespace headlight {

Question fitted(const Question& question, const Trace& trace) {
    Question out = question;
    std::visit(
        [&](auto& asked) {
            if constexpr (requires { asked.fit(trace); }) asked.fit(trace);
        },
        out);
    return out;
}

}  // namespace headlight
