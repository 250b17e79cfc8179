// The parameters of a model, a row for each kind.
#include <algorithm>

#include "base/cast.h"
#include "views/architecture.h"

namespace headlight {

/// Whole words from the beginning: "attention norm" is not "attention norms of q and k".
bool stands_for(const Block& b, const ParameterRow& row) {
    return std::any_of(b.rows.begin(), b.rows.end(), [&](const std::string& begin) {
        return !begin.empty() && row.block.rfind(begin, 0) == 0 &&
               (row.block.size() == begin.size() || row.block[begin.size()] == ' ' ||
                row.block[begin.size()] == ',');
    });
}

namespace {

/// The parts of a line of the table; shape: none where there is no room.
struct Line {
    Rect whole, name, shape, each, times, total;
};

Line divided(Rect line) {
    constexpr float kName = 198, kNumber = 52, kTotal = 116, kLeastShape = 40;
    Line l;
    l.whole = line;
    l.total = take_right(line, kTotal, gap::tight);
    l.times = take_right(line, kNumber, gap::tight);
    l.each = take_right(line, kNumber + gap::small, gap::small);
    l.name = take_left(line, kName, gap::small);
    l.shape = line.w > kLeastShape ? line : Rect{};
    return l;
}

/// "1,234,567"
std::string with_commas(int64_t count) {
    std::string exact = std::to_string(count);
    for (int at = isize(exact) - 3; at > 0; at -= 3) exact.insert(at, ",");
    return exact;
}

void draw_head(Ui& ui, const Line& l) {
    const auto say = [&](Rect r, const char* text, Flush flush) {
        write(ui, r, kCaption, ui.colors->t2, text, flush);
    };
    say(l.name, "parameters of", Flush::left);
    say(l.shape, "shape", Flush::left);
    say(l.each, "each", Flush::right);
    say(l.times, "times", Flush::right);
    say(l.total, "total", Flush::right);
}

void draw_row(Ui& ui, const Line& l, const ParameterRow& row, bool on) {
    if (on) ui.fill(inset(l.whole, -gap::small, 0), ui.colors->bg3, size::corner);
    write(ui, l.name, kCaption, on ? ui.colors->t1 : ui.colors->t2, row.block);
    write(ui, l.shape, kCaptionMono, ui.colors->t3, row.shape);
    write(ui, l.each, kCaptionMono, ui.colors->t2, short_count(row.each), Flush::right);
    write(ui, l.times, kCaptionMono, ui.colors->t3, std::to_string(row.count), Flush::right);
    write(ui, l.total, kCaptionMono, ui.colors->t1, short_count(row.each * row.count), Flush::right);
}

}  // namespace

void draw_parameters(Scene& s, Rect area, const ModelConfig& c, const std::vector<ParameterRow>& table,
                     const Block* pointed) {
    constexpr float kHead = 32, kSum = 36, kLeastRow = 20, kMostRow = 28;
    Ui& ui = s.ui;
    const float row_h =
        std::clamp((area.h - kHead - kSum - size::row) / float(table.size()), kLeastRow, kMostRow);
    const auto rule = [&](float y) { ui.fill({area.x, y, area.w, ui.line()}, ui.colors->l2); };
    draw_head(ui, divided(take_top(area, kHead, gap::tight)));
    rule(area.y - gap::tight);
    for (const ParameterRow& row : table)
        draw_row(ui, divided(take_top(area, row_h)), row, pointed && stands_for(*pointed, row));
    rule(area.y + gap::close);
    const Rect sum = take_top(area, kSum);
    const Line l = divided({sum.x, sum.y + gap::close, sum.w, sum.h});
    write(ui, l.name, kBody, ui.colors->t2, "total");
    write(ui, l.whole, kBodyMono, ui.colors->accent_text, with_commas(parameter_count(c)), Flush::right);
}

}  // namespace headlight
