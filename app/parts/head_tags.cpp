// Draws tags of heads.
#include "parts/head_tags.h"

#include <cmath>

#include "base/cast.h"
#include "parts/controls.h"

namespace headlight {

namespace {

/// Returns what heads do in the text shown; null until it is measured.
std::shared_ptr<const PerHead<TextTraits>> traits_of(const Scene& s) {
    const auto* job = s.sentence() ? s.answer->job<TraitsSweep>() : nullptr;
    return job && job->work().trace == s.sentence()->trace ? job->found().heads : nullptr;
}

std::string tag_text(const HeadTag& tag) { return std::string(tag.row->glyph) + " " + tag.row->word; }

constexpr float kTagPad = 8;

float tag_width(Ui& ui, const HeadTag& tag) {
    return 2 * kTagPad + gap::tight + ui.text.width(kCaption, tag_text(tag)) +
           ui.text.width(kCaptionMono, number(tag.value, 2));
}

constexpr float kGlyph = 19, kWholeTag = 136;  // widths in a row: the glyph alone; with word and value

}  // namespace

std::vector<JobRequest> head_tag_jobs(const Scene& s, bool of_text) {
    if (!s.sentence()) return {};
    std::vector<JobRequest> out{RandomSweep::Request{}};
    if (of_text) out.push_back(TraitsSweep::Request{});
    return out;
}

const RandomStatistics* random_statistics_of(const Scene& s) {
    if (const auto* found = s.found<RandomStatisticsRequest>()) return &found->answer;  // on a page
    const auto* job = s.answer ? s.answer->job<RandomSweep>() : nullptr;
    const bool of_model = job && s.model() && job->work().model.get() == s.model();
    return of_model ? job->found().random.get() : nullptr;  // the job keeps it
}

std::vector<HeadTag> tags_of(const Scene& s, AttentionHead head) {
    if (!s.sentence() || s.sentence()->heads.empty()) return {};
    const RandomStatistics* random = random_statistics_of(s);
    const bool one = s.sentence()->key_labels(head.block).size() < 2;  // whose only weight tells nothing
    const auto traits = one ? nullptr : traits_of(s);
    return head_tags({random && !random->heads.empty() ? &random->heads[head] : nullptr,
                      one ? nullptr : &s.sentence()->heads[head].statistics,
                      traits ? &(*traits)[head] : nullptr});
}

std::string tag_sentence(const Scene& s, AttentionHead head) {
    const std::vector<HeadTag> tags = tags_of(s, head);
    const auto traits = traits_of(s);
    std::string out = tags.empty() ? "" : tags.front().row->sentence;
    if (!traits) return out;
    const TextTraits& t = (*traits)[head];
    if (t.query < 0) return out;
    const auto& queries = s.sentence()->query_labels(head.block);
    const auto& keys = s.sentence()->key_labels(head.block);
    const std::string link = token_at(queries, t.query) + " → " + token_at(keys, t.key);
    return (out.empty() ? "No tag." : out) + " Strongest link: " + link + " (" + number(t.strongest, 3) +
           ").";
}

void draw_tag_lines(Scene& s, Column& c, std::span<const HeadTag> tags) {
    constexpr float kLine = 32;
    float used = 0;
    for (const HeadTag& tag : tags) {
        Rect line = c.line();
        take_left(line, used);
        if (used > 0 && line.w < tag_width(s.ui, tag)) {
            c.skip(kLine);
            line = c.line();
            used = 0;
        }
        used += draw_tags(s, line, {&tag, 1});
    }
    if (!tags.empty()) c.skip(kLine);
}

float draw_tags(Scene& s, Rect line, std::span<const HeadTag> tags) {
    constexpr float kHigh = 24;
    Ui& ui = s.ui;
    float x = line.x;
    for (const HeadTag& tag : tags) {
        const std::string text = tag_text(tag), value = number(tag.value, 2);
        const float wide = tag_width(ui, tag);
        if (x > line.x && x + wide > line.right()) break;
        const Rect r{x, line.y, wide, kHigh};
        ui.fill(r, ui.colors->bg3, size::corner);
        Rect inside = inset(r, kTagPad, 0);
        take_left(inside, write(ui, inside, kCaption, ui.colors->t2, text), gap::tight);
        write(ui, inside, kCaptionMono, ui.colors->t2, value);
        const std::string path = std::string("tag/") + tag.row->word;
        ui.tooltip(path, ui.hit(path, r),
                   std::string(tag.row->sentence) + " " + value + ": " + tag.row->measure + ".");
        x += wide + gap::small;
    }
    return x - line.x;
}

bool draw_corner_tag(Scene& s, Rect thumb, AttentionHead head) {
    constexpr float kBox = 14, kInset = 1, kLeast = 26;
    const auto tags = tags_of(s, head);
    if (tags.empty() || thumb.w < kLeast) return false;
    const Matrix& shown = s.sentence()->heads[head].thumbnail;
    const auto covered = Index(std::ceil(kBox / thumb.w * float(shown.cols())));
    if (covered >= shown.rows() || (shown.topRightCorner(covered, covered).array() >= 0).any()) return false;
    const bool transposed = s.session.preferences.queries == Axis::columns;
    const Rect box{transposed ? thumb.x + kInset : thumb.right() - kBox - kInset,
                   transposed ? thumb.bottom() - kBox - kInset : thumb.y + kInset, kBox, kBox};
    s.ui.text.draw_centered(box.middle_x(), box.middle_y(), kCaption, s.ui.colors->t2,
                            tags.front().row->glyph);  // some glyphs are wider than the box
    return true;
}

float row_tag_width(float row) {
    constexpr float kRoomy = 170;
    return row >= kRoomy ? kWholeTag : kGlyph;
}

void draw_row_tag(Scene& s, Rect room, const HeadTag& tag, ImU32 ink) {
    Ui& ui = s.ui;
    write(ui, take_left(room, kGlyph), kCaption, ink, tag.row->glyph);
    if (room.w + kGlyph < kWholeTag) return;
    write(ui, room, kCaptionMono, ui.colors->t3, number(tag.value, 2), Flush::right);
    take_right(room, ui.text.width(kCaptionMono, "0.00"), gap::tight);
    write(ui, room, kCaption, ink, ui.text.fitted(kCaption, tag.row->word, room.w));
}

}  // namespace headlight
