// Asks about stations whose numbers are small, made by hand, or counted.
#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "io/numbers.h"
#include "learn/page_parts.h"
#include "learn/questions/ask.h"
#include "learn/questions/parts.h"
#include "model/loading/parameters.h"

namespace headlight::learn {

namespace {

constexpr size_t kCardsAtMost = 4;

/// Keeps the largest card and the three after it, in their order.
void keep_four(PageQuestion& question) {
    mark_largest(question);
    while (question.cards.size() > kCardsAtMost) {
        auto least = question.cards.begin();
        for (auto card = question.cards.begin(); card != question.cards.end(); ++card)
            if (card->value < least->value) least = card;
        question.cards.erase(least);
    }
    mark_largest(question);
}

/// Asks which of a table's rows has the largest number in a column.
void add_row_cards(PageQuestion& question, const Table& table, int rows, int column,
                   const std::vector<std::string>& reasons) {
    for (int r = 0; r < std::min(rows, isize(table.rows)); ++r)
        question.cards.push_back({.label = table.rows[r][0],
                                  .reason = reasons[r],
                                  .value = table.values[r][column],
                                  .shown = table.rows[r][column]});
    keep_four(question);
}

}  // namespace

Questions ask_database(const StationInput&, const DatabaseState&, const Page& page, ThreadPool&) {
    const BarRows* bars = first_bars(page);
    const Grid *keys = find_grid(page, "Keys"), *query = find_grid(page, "Query"),
               *values = find_grid(page, "Values");
    if (!bars || !keys || !query || !values) return std::vector<PageQuestion>();
    const std::vector<float>& weights = bars->rows.back().values;  // the weighted answer's
    const std::string asked = "size " + written(double(query->values(0, 0)), 1) + " and tameness " +
                              written(double(query->values(0, 1)), 1);
    PageQuestion q{.text = "Which animal will count most in the answer for " + asked + "?",
                   .will_see = "One bar for each animal: its weight in the answer.",
                   .columns = bars->columns};
    double answer = 0;
    for (int i = 0; i < isize(bars->columns); ++i) {
        answer += double(weights[i] * values->values(i, 0));
        q.cards.push_back({.label = bars->columns[i],
                           .reason = "size " + written(double(keys->values(i, 0)), 1) + ", tameness " +
                                     written(double(keys->values(i, 1)), 1),
                           .value = double(weights[i]),
                           .shown = decimals(double(weights[i]), 3)});
    }
    const auto best = std::max_element(weights.begin(), weights.end()) - weights.begin();
    keep_four(q);
    q.finding = "The answer is " + decimals(answer, 1) + " km/h: the " + bars->columns[best] + " has " +
                share_text(double(weights[best])) + " of the weight.";
    const auto& equal = bars->rows.front().values;
    const bool exact = std::any_of(equal.begin(), equal.end(), [](float w) { return w > 0; });
    q.why = std::string(exact ? "This key is in the table."
                              : "No row has this key, so a database has no answer.") +
            " Softly, every row answers: the nearer its key, the more.";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_worked(const StationInput&, const WorkedExampleState& state, const Page& page, ThreadPool&) {
    const Grid* words = find_grid(page, "Words x");
    if (!words) return std::vector<PageQuestion>();
    const WorkedInput in = worked_input(state);
    const WorkedAttention a = work_out(in);
    PageQuestion q{
        .text = "Which word will " + said(words->rows[in.query]) + " take most from?",
        .will_see = "Each step of the arithmetic, from the three words to the mixture of their values.",
        .columns = words->rows};
    Index best = 0;
    a.weights.maxCoeff(&best);
    for (int i = 0; i < isize(words->rows); ++i)
        q.cards.push_back(
            {.label = words->rows[i],
             .reason = (i == in.query ? "the word itself, x = " : "x = ") + written_vector(in.words.row(i)),
             .value = std::round(1e4 * double(a.weights[i])),
             .shown = decimals(double(a.weights[i]), 3)});
    mark_largest(q);
    for (GuessCard& card : q.cards) card.value /= 1e4;
    q.finding = said(words->rows[in.query]) + " takes " + share_text(double(a.weights[best])) + " from " +
                (best == in.query ? "itself" : said(words->rows[best])) + ": its score, " +
                written(double(a.scores[best])) + ", is the largest.";
    q.why = "What comes out is " + written_vector(a.output) + ".";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_parameters(const StationInput&, const ParametersState&, const Page& page, ThreadPool&) {
    const Table* table = find_table(page, "The whole model");
    if (!table || isize(table->rows) < 5) return std::vector<PageQuestion>();
    const Table* of = find_table(page, "Attention of ");
    const std::string model = of ? of->title.substr(std::string("Attention of ").size()) : "the model";
    PageQuestion q{.text = "Which part holds most of the weights of " + model + "?",
                   .will_see = "Every matrix counted, from one head to the whole model."};
    add_row_cards(q, *table, 4, 1,
                  {"a row for each token that it knows", "four matrices a head, in every layer",
                   "the matrices between attention, in every layer", "a column for each token"});
    for (GuessCard& card : q.cards)
        for (const auto& row : table->rows)
            if (row[0] == card.label) card.shown = row[2];
    int most = 0;
    for (int r = 1; r < 4; ++r)
        if (table->values[r][1] > table->values[most][1]) most = r;
    q.finding = "Of " + table->rows[4][1] + " weights, " + table->rows[most][2] + " are in " +
                (table->rows[most][0] == "MLP" ? "the MLPs" : table->rows[most][0]) + "; attention holds " +
                table->rows[1][2] + ".";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_pictures(const StationInput& in, const PicturesState& state, const Page& page, ThreadPool&) {
    const Table* table = find_table(page, "A picture as a text");
    const Pixels* cut = nullptr;
    for (const Block& block : page.blocks)
        if (const auto* pixels = std::get_if<Pixels>(&block); pixels && !cut) cut = pixels;
    if (!table || !cut || isize(table->values) < 3 || cut->rows == 0) return std::vector<PageQuestion>();
    const auto patches = static_cast<int64_t>(table->values[0][1]),
               tokens = static_cast<int64_t>(table->values[2][1]),
               numbers = static_cast<int64_t>(table->values[1][1]);
    PageQuestion q{.text = "How many tokens will the picture become?",
                   .will_see = "The picture cut into patches, and what each patch becomes."};
    const std::pair<int64_t, const char*> guesses[] = {
        {cut->columns, "one for each column of patches"},
        {tokens, "one for each patch, and the class token"},
        {patches * numbers / 3, "one for each pixel"},
        {patches * numbers, "one for each red, green and blue"}};
    for (const auto& [count, reason] : guesses)
        q.cards.push_back(
            {.label = with_commas(count), .reason = reason, .value = count == tokens ? 1.0 : 0.0});
    mark_largest(q);
    q.finding = with_commas(patches) + " patches of " + with_commas(numbers) +
                " numbers each, and one class token: " + with_commas(tokens) + " tokens.";
    q.why = "One head compares each with each: " + with_commas(tokens * tokens) + " scores.";
    if (in.trace && in.trace->config().vision.patch && state.patch != PicturesState().patch)
        q.why += " " + in.model->name + " reads patches of " +
                 std::to_string(in.trace->config().vision.patch) + " × " +
                 std::to_string(in.trace->config().vision.patch) +
                 " pixels and no others, so the control changes nothing.";
    return std::vector<PageQuestion>{std::move(q)};
}

Questions ask_formation(const StationInput&, const FormationState&, const Page& page, ThreadPool&) {
    const Curves* scores = nullptr;
    for (const Block& block : page.blocks)
        if (const auto* curves = std::get_if<Curves>(&block); curves && curves->title == "Scores of heads")
            scores = curves;
    if (!scores || !scores->mark_x) return std::vector<PageQuestion>();
    const Curves::Line* line = nullptr;
    for (const Curves::Line& one : scores->lines)
        if (!line && one.name.starts_with("induction")) line = &one;
    if (!line) return std::vector<PageQuestion>();
    const int count = isize(line->x);
    const auto right =
        narrow<int>(std::find(line->x.begin(), line->x.end(), *scores->mark_x) - line->x.begin());
    if (right == count) return std::vector<PageQuestion>();
    std::vector<int> places{right};
    for (const int other : {count / 20, count / 4, count / 2, count - 1, 3 * count / 4})
        if (places.size() < kCardsAtMost && std::all_of(places.begin(), places.end(), [&](int at) {
                return std::abs(at - other) > count / 10;
            }))
            places.push_back(other);
    std::sort(places.begin(), places.end());
    const double last = double(line->x.back());
    PageQuestion q{.text = "After how many steps will a head find what followed a token last time?",
                   .will_see = "The scores of its best heads, step by step, from random weights on."};
    for (const int at : places)
        q.cards.push_back({.label = with_commas(std::llround(line->x[at])),
                           .reason = "after " + share_text(double(line->x[at]) / last) + " of its training",
                           .value = at == right ? 1.0 : 0.0,
                           .shown = "score " + decimals(double(line->y[at]), 2)});
    mark_largest(q);
    const float most = *std::max_element(line->y.begin(), line->y.end());
    q.finding = "Head" + line->name.substr(line->name.rfind(' ')) + " does it best: at step " +
                with_commas(std::llround(line->x[right])) + " of " + with_commas(std::llround(last)) +
                " its score is halfway, " + decimals(double(line->y[right]), 2) + ", from " +
                decimals(double(line->y.front()), 2) + " at first to " + decimals(double(most), 2) + ".";
    q.why = "Induction: to look at what followed the same token last time. A score of 1 would be all of it.";
    return std::vector<PageQuestion>{std::move(q)};
}

}  // namespace headlight::learn
