// Draws what heads measurably do: a glyph, a word and a value for each tag.
#pragma once

#include "analysis/attention/head_tags.h"
#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

/// Requests what tags are measured from; `of_text`: also in the text, for the list and the inspector.
std::vector<JobRequest> head_tag_jobs(const Scene& scene, bool of_text);

/// Returns the statistics on random tokens; null until they are measured.
const RandomStatistics* random_statistics_of(const Scene& scene);

/// Returns what is known of a head so far.
std::vector<HeadTag> tags_of(const Scene& scene, AttentionHead head);

/// "Finds what followed the same token last time. Strongest link: red 16 → ball 4 (0.752)." Links to the
/// first token, the previous one and the query itself do not count. Empty while nothing is known.
std::string tag_sentence(const Scene& scene, AttentionHead head);

/// Draws all tags, as many in a line as fit.
void draw_tag_lines(Scene& scene, Column& column, std::span<const HeadTag> tags);
/// Draws the tags in a line, each with its value; returns the width.
float draw_tags(Scene& scene, Rect line, std::span<const HeadTag> tags);

/// Draws the glyph of a head's first tag in the masked corner of its thumbnail; whether there is one to draw
/// and a corner that hides nothing.
bool draw_corner_tag(Scene& scene, Rect thumb, AttentionHead head);

/// Returns the width of a tag in a list's row: of a narrow row its glyph's.
float row_tag_width(float row);
/// Draws glyph, word and value of a head's first tag in a list's row; of a narrow row only the glyph.
void draw_row_tag(Scene& scene, Rect room, const HeadTag& tag, ImU32 ink);

}  // namespace headlight
