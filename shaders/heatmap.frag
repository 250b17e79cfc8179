#version 330 core
// One head's weights. The texture holds values (masked: negative), level by level the largest of 2 x 2 below it;
// colours come from the map alone.
uniform sampler2D values;      // [n, n], row = query
uniform sampler2D row_largest; // [n, 1]
uniform sampler2D colors;      // [256, 1]
uniform int n;
uniform vec4 rect;
uniform float largest;
uniform int scale;             // 0 linear, 1 log, 2 row
uniform int columns;           // 1: queries run along columns
uniform float log_floor;
uniform float dim;             // 0 … 1 towards the background
uniform vec3 background;
uniform vec3 hatch;
uniform float hatch_period;
in vec2 pixel;
out vec4 color;

ivec2 oriented(ivec2 cell) { return columns == 1 ? cell.yx : cell; }

float fetch(ivec2 cell, int level) {
    return texelFetch(values, clamp(oriented(cell), ivec2(0), ivec2((n - 1) >> level)), level).r;
}

float place(float weight, int query) {
    if (weight <= 0.0) return 0.0;
    float top = scale == 2 ? texelFetch(row_largest, ivec2(query, 0), 0).r : largest;
    if (scale == 1) return clamp(log(weight / log_floor) / max(log(top / log_floor), 1e-6), 0.0, 1.0);
    return clamp(weight / max(top, 1e-12), 0.0, 1.0);
}

void main() {
    float cell_size = rect.z / float(n);
    vec2 at = pixel / cell_size;
    ivec2 cell = ivec2(at);
    float weight;
    if (cell_size >= 1.0) {
        weight = fetch(cell, 0);
        vec2 inside = (at - vec2(cell)) * cell_size;
        if (cell_size >= 12.0 && max(inside.x, inside.y) > cell_size - 1.0) {
            color = vec4(background, 1.0);
            return;
        }
    } else {  // each pixel takes the largest weight that it covers
        float covered = 1.0 / cell_size;
        int level = int(floor(log2(covered)));
        vec2 first = floor(pixel) * covered, last = first + covered - 1e-3;
        ivec2 from = ivec2(first) >> level, to = ivec2(last) >> level;
        weight = -1.0;
        for (int y = from.y; y <= min(to.y, from.y + 3); ++y)
            for (int x = from.x; x <= min(to.x, from.x + 3); ++x) weight = max(weight, fetch(ivec2(x, y), level));
    }
    if (weight < 0.0) {
        bool line = cell_size >= 12.0 && mod(gl_FragCoord.x - gl_FragCoord.y, hatch_period) < 1.0;
        color = vec4(mix(line ? hatch : background, background, dim), 1.0);
        return;
    }
    int query = columns == 1 ? cell.x : cell.y;
    vec3 mapped = texture(colors, vec2((place(weight, clamp(query, 0, n - 1)) * 255.0 + 0.5) / 256.0, 0.5)).rgb;
    color = vec4(mix(mapped, background, dim), 1.0);
}
