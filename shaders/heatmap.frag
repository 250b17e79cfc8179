#version 330 core
// A matrix of values, one head's weights above all. The texture holds values (masked: negative; -2: nothing), level by level the largest of 2 x 2 below it;
// colors come from the map alone. Compiled once for each CURVE (0 straight, 1 square root, 2 log), with or without
// BY_ROW, and with or without MINIFY (cells under a pixel), DOTS or GAPS, because software renderers run both sides of a branch.
uniform sampler2D values;      // [keys, queries], row = query
uniform sampler2D row_largest; // [queries, 1]
uniform sampler2D colors;      // [256, 1]
uniform ivec2 cells;           // across, down on the screen
uniform vec4 rect;
uniform float largest;
uniform int columns;           // 1: queries run along columns
uniform float log_floor;
uniform vec3 background;
uniform vec3 hatch;
uniform float hatch_period;    // whole pixels from one hatch to the next
uniform float gap_width;       // with GAPS: pixels between cells, which also have hatches where they are masked
in vec2 pixel;
out vec4 color;

ivec2 oriented(ivec2 cell) { return columns == 1 ? cell.yx : cell; }

float place(float weight, int query) {
#ifdef BY_ROW
    float top = texelFetch(row_largest, ivec2(query, 0), 0).r;
#else
    float top = largest;
#endif
#if CURVE == 2
    return log(max(weight, log_floor) / log_floor) / max(log(top / log_floor), 1e-6);
#elif CURVE == 1
    return sqrt(max(weight, 0.0) / max(top, 1e-12));
#else
    return weight / max(top, 1e-12);
#endif
}

void main() {
    vec2 cell_size = rect.zw / vec2(cells);
    vec2 at = pixel / cell_size;
    ivec2 cell = oriented(ivec2(at));
#ifdef MINIFY  // each pixel takes the largest weight that it covers
    float covered = 1.0 / cell_size.x;  // cells are square
    int level = int(floor(log2(covered) + 1e-4));
    vec2 first = floor(pixel) * covered + 1e-3, last = first + covered - 2e-3;
    ivec2 from = ivec2(first) >> level, to = min(ivec2(last) >> level, min(from + 3, (cells - 1) >> level));
    float weight = -1.0;
    for (int y = from.y; y <= to.y; ++y)
        for (int x = from.x; x <= to.x; ++x) {
            float seen = texelFetch(values, oriented(ivec2(x, y)), level).r;
#ifdef DIVERGES  // the farthest from the middle; masked ones are negative
            if (seen >= 0.0 && (weight < 0.0 || abs(seen - 0.5) > abs(weight - 0.5))) weight = seen;
#else
            weight = max(weight, seen);
#endif
        }
#else
    float weight = texelFetch(values, min(cell, oriented(cells) - 1), 0).r;
    vec2 inside = fract(at) * cell_size;
#endif
    vec3 masked = background;
    bool gap = false;
#ifdef GAPS
    vec2 at_pixel = floor(gl_FragCoord.xy);  // whole numbers, and a half in the quotient: nothing rounds to bands
    float diagonal = at_pixel.x - at_pixel.y, along = diagonal - hatch_period * floor((diagonal + 0.5) / hatch_period);
    if (abs(weight + 2.0) > 0.5 && along < max(1.0, floor(hatch_period / 6.0))) masked = hatch;
    gap = any(greaterThan(inside, cell_size - gap_width));
#endif
    int entry = int(clamp(place(weight, min(cell.y, oriented(cells).y - 1)), 0.0, 1.0) * 255.0 + 0.5);
    vec3 mapped = texelFetch(colors, ivec2(entry, 0), 0).rgb;
#ifdef DOTS  // area by weight
    float away = length(inside / cell_size - 0.5) * 2.0, radius = sqrt(clamp(place(weight, min(cell.y, oriented(cells).y - 1)), 0.0, 1.0)) * 0.94;
    if (weight >= 0.0) mapped = mix(mapped, background, clamp((away - radius) * cell_size.x * 0.5 + 0.5, 0.0, 1.0));
    gap = false;
#endif
    if (isnan(weight)) mapped = vec3(0.5);
    color = vec4(gap ? background : weight < 0.0 ? masked : mapped, 1.0);
}
