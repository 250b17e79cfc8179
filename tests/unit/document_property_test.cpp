// Tests the document's main property: after any acts in any order, it contains what was set, undo restores
// the state before, and what was saved or remembered comes back.
#include <cstdlib>
#include <random>

#include "document_hand.h"
#include "document_walk.h"

using namespace headlight;

namespace {

/// Returns "", or the act that failed, and how.
std::string outcome(std::vector<KnownModel>& models, const std::vector<std::string>& acts) {
    Case one(models);
    for (size_t i = 0; i < acts.size(); ++i)
        if (const std::string wrong = one.act(acts[i]); !wrong.empty())
            return "after act " + std::to_string(i) + ", " + acts[i] + ":\n" + wrong;
    return "";
}

/// Shrinks a failing sequence of acts.
std::vector<std::string> shrunk(std::vector<KnownModel>& models, std::vector<std::string> acts) {
    for (bool shorter = true; shorter;) {
        shorter = false;
        for (size_t i = 0; i < acts.size(); ++i) {
            auto fewer = acts;
            fewer.erase(fewer.begin() + std::ptrdiff_t(i));
            if (outcome(models, fewer).empty()) continue;
            acts = std::move(fewer);
            shorter = true;
            --i;
        }
    }
    return acts;
}

}  // namespace

TEST_CASE("the document: invariants hold under random commands in any order") {
    const char* given = std::getenv("HEADLIGHT_SEED");
    const unsigned seed = given ? unsigned(std::strtoul(given, nullptr, 10)) : std::random_device()();
    const int sequences = std::getenv("HEADLIGHT_LONG") ? 10'000 : kSanitized ? 30 : 300;
    constexpr int kActs = 30;
    auto models = known_models();
    MESSAGE("seed " << seed << ", " << sequences << " sequences of acts");
    for (int i = 0; i < sequences; ++i) {
        const auto acts = Hand(seed + unsigned(i)).acts(kActs);
        if (outcome(models, acts).empty()) continue;
        const auto needed = shrunk(models, acts);
        std::string said;
        for (const std::string& act : needed) said += act + "\n";
        FAIL_CHECK("seed " << seed + unsigned(i) << ":\n" << said << outcome(models, needed));
        break;
    }
}
