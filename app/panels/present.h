// Presents a view full screen; slides are saved views: added, arranged, and stepped through.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/canvas.h"
#include "parts/scene.h"
#include "session/commands/command.h"

namespace headlight {

struct View;

inline constexpr float kPresentScale = 1.5f;  // minimum scale of the text

/// The number of steps that reveal a slide: its title and sentence stand, then the view, then the prediction.
inline constexpr int kReveals = 2;

/// A slide as the list of slides shows it.
struct SlideCard {
    std::string title;
    std::string note;       // what to say, never on the slide
    bool by_steps = false;  // Space reveals it
    std::string picture;    // identifies its thumbnail: what the slide shows
};
SlideCard card_of(const std::string& slide);

/// State of the list of slides.
struct SlideStrip {
    struct Known {
        std::string slide;
        SlideCard card;
    };
    std::vector<Known> known;  // by number
    float scroll = 0;
    int seen = -1;               // the slide that was scrolled into view
    std::optional<int> dragged;  // its number
};

/// The size of a thumbnail, in points.
inline constexpr float kThumbWide = 208, kThumbHigh = 130;

/// Saves all slides as a PDF: where to, and which is shown to be drawn.
struct SlidesPdf {
    std::string path;  // "": nothing is saved
    int next = -1;     // −1: not begun; the number of slides: they are written
};

struct ViewPage;
/// Draws a slide as a page of 16 by 9.
Drawing draw_slide_page(ViewPage page);

/// Reads the titles of slides that changed.
void note_cards(Scene& scene);

/// Draws a slide's title and sentence, and what is under them; returns the area of the view, or none while
/// that is not revealed.
std::optional<Rect> draw_presentation(Scene& scene, Rect window, const View& view);
/// Draws the slides at the left and the one shown beside them; returns the area of its view.
std::optional<Rect> draw_slides(Scene& scene, Rect window, const View& view);
/// Draws title, sentence and prediction, as far as they are revealed; returns the area of the view.
std::optional<Rect> draw_slide(Scene& scene, Rect area, const View& view, int revealed);

std::vector<Command> present_commands();

/// Shows the slide that waited for its model, once that is open or failed.
Status resume_presenting(CommandContext& context);

}  // namespace headlight
