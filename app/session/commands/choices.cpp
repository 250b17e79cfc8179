#include "session/commands/choices.h"

#include "base/cast.h"

namespace headlight {

namespace {

class ChoiceLister final : public ChoiceVisitor {
public:
    void choice(const Choice& choice, int&) override { found.push_back(choice); }

    std::vector<Choice> found;
};

class Chooser final : public ChoiceVisitor {
public:
    Chooser(const std::string& command, const std::string& word) : command_(command), word_(word) {}
    void choice(const Choice& choice, int& place) override {
        if (choice.command != command_) return;
        const auto word = std::find(choice.words.begin(), choice.words.end(), word_);
        const auto count = isize(choice.words);
        place = word == choice.words.end() ? (place + 1) % count : narrow<int>(word - choice.words.begin());
    }

private:
    const std::string &command_, &word_;
};

}  // namespace

std::vector<Choice> choices_of(StateVisit visit) {
    StateBag untouched;
    ChoiceLister lister;
    visit(untouched, lister);
    return std::move(lister.found);
}

void choose(StateBag& bag, StateVisit visit, const std::string& command, const std::string& word) {
    Chooser chooser(command, word);
    visit(bag, chooser);
}

}  // namespace headlight
