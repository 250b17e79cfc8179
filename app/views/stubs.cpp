#include "views/views.h"
namespace headlight {
void draw_delta(Scene&, Rect) {}
void draw_delta_list(Scene&, Rect) {}
void draw_delta_inspector(Scene&, Rect) {}
std::vector<Question> ask_delta(const Scene&) { return {}; }
void draw_lens(Scene&, Rect) {}
void draw_lens_inspector(Scene&, Rect) {}
std::vector<Question> ask_lens(const Scene&) { return {}; }
void draw_graph(Scene&, Rect) {}
void draw_graph_list(Scene&, Rect) {}
void draw_graph_inspector(Scene&, Rect) {}
std::vector<Question> ask_graph(const Scene&) { return {}; }
void draw_all_heads(Scene&, Rect) {}
std::vector<Question> ask_all_heads(const Scene&) { return {}; }
void draw_architecture(Scene&, Rect) {}
}
