#include "views/page_spots.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/draws.h"
#include "paint/probe.h"

namespace headlight {

namespace {

constexpr float kStep = 3, kExact = 0.5f, kScatter = 8, kInside = 0.25f;
constexpr size_t kMaxCells = 6'000, kMaxAsked = 16'000;

/// Holds a context of Dear ImGui for views that ask it about the mouse, where there is no window.
class WindowlessContext {
public:
    WindowlessContext() : made_(ImGui::GetCurrentContext() ? nullptr : ImGui::CreateContext()) {}
    ~WindowlessContext() {
        if (made_) ImGui::DestroyContext(made_);
    }
    WindowlessContext(const WindowlessContext&) = delete;
    WindowlessContext& operator=(const WindowlessContext&) = delete;

private:
    ImGuiContext* made_;
};

/// Leaves out sentences about what a click does: on a page it does nothing.
std::string without_clicks(const std::string& said) {
    std::string out;
    for (size_t at = 0; at < said.size();) {
        const size_t end = std::min(said.find(". ", at), said.size() - 1) + 1;
        const std::string sentence = said.substr(at, end - at);
        if (sentence.find("lick") == sentence.npos) out += (out.empty() ? "" : " ") + sentence;
        at = std::min(said.find_first_not_of(' ', end), said.size());
    }
    return out;
}

/// Draws with the mouse at a point.
class Asker {
public:
    Asker(Ui& ui, Rect area, const std::function<void()>& draw) : ui_(ui), draw_(draw) {
        ui.probe = &probe_;
        ui.text.without_ink = true;
        at({-1, -1});
        for (const Rect& r : probe_.areas) {
            const Rect seen = r.common(area);
            if (seen.w > 0 && seen.h > 0) areas.push_back(seen);
        }
    }
    ~Asker() {
        ui_.probe = nullptr;
        ui_.text.without_ink = false;
    }
    Asker(const Asker&) = delete;
    Asker& operator=(const Asker&) = delete;

    /// Returns whether it may be asked so often again: a page of a large view takes seconds, not minutes.
    bool may_ask(size_t times) const { return asked_ + times <= kMaxAsked; }
    const std::string& at(ImVec2 mouse) {
        ++asked_;
        probe_.mouse = ui_.mouse = mouse;
        probe_.areas.clear();
        probe_.said.clear();
        draw_();
        return probe_.said = without_clicks(probe_.said);
    }
    std::vector<Rect> areas;

private:
    Ui& ui_;
    const std::function<void()>& draw_;
    Probe probe_;
    size_t asked_ = 0;
};

/// Returns where what is said changes along a line, from `from` to `to`; `point` places a length on it.
template <class Point>
void add_breaks(Asker& page, float from, float to, const Point& point, std::set<float>& breaks) {
    std::string before = page.at(point(from + kInside));
    float last = from + kInside;
    const auto find = [&](float next) {
        const std::string now = page.at(point(next));
        if (now == before) return void(last = next);
        float low = last, high = next;
        while (high - low > kExact) {
            const float middle = (low + high) / 2;
            (page.at(point(middle)) == before ? low : high) = middle;
        }
        breaks.insert(std::round(2 * (low + high) / 2) / 2);
        before = now;
        last = next;
    };
    for (float next = from + kStep; next < to - kInside; next += kStep) find(next);
    find(to - kInside);
}

/// Joins breaks that lie closer together than a step of the search.
std::vector<float> edges_of(const std::set<float>& breaks, float from, float to) {
    std::vector<float> out{from};
    for (const float at : breaks)
        if (at - out.back() > 1.5f && to - at > 1.5f) out.push_back(at);
    out.push_back(to);
    return out;
}

/// An area as a grid of cells in which one thing is said.
struct Cells {
    std::vector<float> columns, rows;  // their edges
    std::vector<std::string> said;     // of each row, of each column

    size_t wide() const { return columns.size() - 1; }
    size_t high() const { return rows.size() - 1; }
    const std::string& at(ImVec2 p) const {
        const auto index = [](const std::vector<float>& edges, float at) {
            const auto after = std::upper_bound(edges.begin(), edges.end(), at) - edges.begin();
            return size_t(std::clamp<std::ptrdiff_t>(after - 1, 0, std::ssize(edges) - 2));
        };
        return said[index(rows, p.y) * wide() + index(columns, p.x)];
    }
};

Cells cells_between(Asker& page, std::vector<float> columns, std::vector<float> rows) {
    Cells out{std::move(columns), std::move(rows), {}};
    for (size_t r = 0; r < out.high(); ++r)
        for (size_t c = 0; c < out.wide(); ++c)
            out.said.push_back(
                page.at({(out.columns[c] + out.columns[c + 1]) / 2, (out.rows[r] + out.rows[r + 1]) / 2}));
    return out;
}

/// Divides an area where what is said changes along some of its lines: those of a table or of a matrix.
Cells divided(Asker& page, Rect r) {
    constexpr int kLines = 5;
    if (!page.may_ask(size_t(float(kLines) * (r.w + r.h) / kStep))) return {};
    std::set<float> across, down;
    for (const float place : {0.04f, 0.3f, 0.5f, 0.7f, 0.96f}) {
        const float y = r.y + place * r.h, x = r.x + place * r.w;
        add_breaks(
            page, r.x, r.right(),
            [&](float at) {
                return ImVec2{at, y};
            },
            across);
        add_breaks(
            page, r.y, r.bottom(),
            [&](float at) {
                return ImVec2{x, at};
            },
            down);
    }
    auto columns = edges_of(across, r.x, r.right()), rows = edges_of(down, r.y, r.bottom());
    const size_t cells = (columns.size() - 1) * (rows.size() - 1);
    if (cells > kMaxCells || !page.may_ask(cells)) return {};
    return cells_between(page, std::move(columns), std::move(rows));
}

/// Returns whether points of an area are told what the cells say.
bool holds(Asker& page, Rect r, const Cells& cells) {
    constexpr int kPoints = 48, kMaxWrong = 4;
    Draws draws(1);
    int wrong = 0;
    for (int i = 0; i < kPoints; ++i) {
        const ImVec2 p{r.x + r.w * float(draws.uniform()), r.y + r.h * float(draws.uniform())};
        wrong += page.at(p) != cells.at(p);
    }
    return wrong <= kMaxWrong;
}

/// Returns an area that says one thing, or none: controls and rows, of which a view has hundreds.
std::optional<Cells> whole(Asker& page, Rect r) {
    constexpr float kLargest = 320;
    if (r.w * r.h > kLargest * kLargest) return std::nullopt;
    const std::string said = page.at(r.middle());
    for (const ImVec2 at : {ImVec2{0.06f, 0.1f}, {0.94f, 0.1f}, {0.06f, 0.9f}, {0.94f, 0.9f}, {0.3f, 0.4f}})
        if (page.at({r.x + at.x * r.w, r.y + at.y * r.h}) != said) return std::nullopt;
    return Cells{{r.x, r.right()}, {r.y, r.bottom()}, {said}};
}

/// Divides an area evenly: points and curves follow no lines.
Cells scattered(Asker& page, Rect r) {
    float step = kScatter;
    while (!page.may_ask(size_t(r.w / step * r.h / step))) step *= 2;
    const auto edges = [&](float from, float length) {
        const int count = std::max(1, int(length / step));
        std::vector<float> out;
        for (int i = 0; i <= count; ++i) out.push_back(from + length * float(i) / float(count));
        return out;
    };
    return cells_between(page, edges(r.x, r.w), edges(r.y, r.h));
}

/// Joins neighbors in a row that say the same, then rows that are the same.
void add_spots(const Cells& cells, bool framed, float zoom, std::vector<PageSpot>& out) {
    std::map<std::pair<size_t, size_t>, size_t> above;  // columns, to the spot that ends at this row
    for (size_t r = 0; r < cells.high(); ++r) {
        std::map<std::pair<size_t, size_t>, size_t> here;
        for (size_t c = 0; c < cells.wide();) {
            const size_t first = c;
            const std::string& said = cells.said[r * cells.wide() + c];
            while (++c < cells.wide() && cells.said[r * cells.wide() + c] == said) {
            }
            if (said.empty()) continue;
            const auto over = above.find({first, c});
            const float bottom = cells.rows[r + 1] * zoom;
            if (over != above.end() && out[over->second].said == said) {
                out[over->second].height = bottom - out[over->second].y;
                here[{first, c}] = over->second;
                continue;
            }
            here[{first, c}] = out.size();
            const float x = cells.columns[first] * zoom, y = cells.rows[r] * zoom;
            out.push_back({x, y, cells.columns[c] * zoom - x, bottom - y, said, framed});
        }
        above = std::move(here);
    }
}

/// Returns the areas without those inside another one: what they say is found with it.
std::vector<Rect> outermost(const std::vector<Rect>& areas) {
    std::vector<Rect> out;
    const auto holds = [](const Rect& a, const Rect& b) {
        return a.x <= b.x && a.y <= b.y && a.right() >= b.right() && a.bottom() >= b.bottom();
    };
    for (size_t i = 0; i < areas.size(); ++i) {
        bool inside = false;
        for (size_t j = 0; j < areas.size() && !inside; ++j)
            inside = i != j && holds(areas[j], areas[i]) && (j < i || !holds(areas[i], areas[j]));
        if (!inside) out.push_back(areas[i]);
    }
    return out;
}

}  // namespace

std::vector<PageSpot> spots_of(Ui& ui, Rect all, float zoom, const std::function<void()>& draw) {
    const WindowlessContext context;
    std::vector<PageSpot> out;
    Asker page(ui, all, draw);
    for (const Rect& area : outermost(page.areas)) {
        if (const auto one = whole(page, area)) {
            add_spots(*one, true, zoom, out);
            continue;
        }
        Cells cells = divided(page, area);
        if (cells.said.empty()) continue;  // too many: the numbers are in the table
        const bool framed = holds(page, area, cells);
        if (!framed) cells = scattered(page, area);
        add_spots(cells, framed, zoom, out);
    }
    return out;
}

}  // namespace headlight
