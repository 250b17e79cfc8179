#include "views/view_options.h"

#include <algorithm>
#include <charconv>

#include "base/cast.h"
#include "base/listed.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Lists the options of all views; one that several share is listed once.
class OptionLister final : public ChoiceVisitor {
public:
    explicit OptionLister(std::vector<ViewOption>& found) : found_(found) {}
    void visit(const View& view) {
        StateBag untouched;
        view_ = view.key;
        view.visit(untouched, *this);
    }

    void word_option(const FieldOption& row, const Choice& choice, int& place) override {
        ViewOption& option = add(row, choice.help);
        option.words = choice.words;
        option.usual = choice.words[place];
    }
    void number_option(const FieldOption& row, int& value, int low, int high) override {
        ViewOption& option = add(row, "");
        option.range = {low, high};
        option.usual = std::to_string(value);
    }
    void text_option(const FieldOption& row, std::string& text) override { add(row, "").usual = text; }

private:
    ViewOption& add(const FieldOption& row, const std::string& help) {
        const auto known = std::ranges::find_if(
            found_, [&](const ViewOption& one) { return std::string_view(one.row.name) == row.name; });
        ViewOption& option = known == found_.end() ? found_.emplace_back() : *known;
        option.row = row;
        option.views.push_back(view_);
        option.help = "--view " + listed(option.views, "or") + ": " + (*row.help ? row.help : help);
        return option;
    }

    std::vector<ViewOption>& found_;
    std::string view_;
};

class OptionTaker final : public ChoiceVisitor {
public:
    explicit OptionTaker(const std::map<std::string, std::string>& chosen) : chosen_(chosen) {}

    void word_option(const FieldOption& row, const Choice& choice, int& place) override {
        const std::string* text = chosen(row);
        if (!text) return;
        const auto word = std::ranges::find(choice.words, *text);
        if (row.flag)
            place = isize(choice.words) - 1;
        else if (word != choice.words.end())
            place = narrow<int>(word - choice.words.begin());
    }
    void number_option(const FieldOption& row, int& value, int low, int high) override {
        const std::string* text = chosen(row);
        int given = 0;
        if (text && std::from_chars(text->data(), text->data() + text->size(), given).ec == std::errc())
            value = std::clamp(given, low, high);
    }
    void text_option(const FieldOption& row, std::string& value) override {
        if (const std::string* text = chosen(row)) value = *text;
    }

private:
    const std::string* chosen(const FieldOption& row) const {
        const auto found = chosen_.find(row.name);
        return found == chosen_.end() ? nullptr : &found->second;
    }

    const std::map<std::string, std::string>& chosen_;
};

}  // namespace

std::span<const ViewOption> view_options() {
    static const std::vector<ViewOption> options = [] {
        std::vector<ViewOption> out;
        OptionLister lister(out);
        for (const View& view : views())
            if (view.visit) lister.visit(view);
        return out;
    }();
    return options;
}

const ViewOption* find_view_option(std::string_view name) {
    const auto found =
        std::ranges::find_if(view_options(), [&](const ViewOption& one) { return name == one.row.name; });
    return found == view_options().end() ? nullptr : &*found;
}

void take_view_options(Session& session, const std::map<std::string, std::string>& chosen) {
    OptionTaker taker(chosen);
    for (const StateVisit visit : session.visits) visit(session.views, taker);
}

}  // namespace headlight
