#version 330 core
// Thumbnails of all heads in one draw: an atlas of small pictures, square root of the weight.
uniform sampler2D atlas;   // [layers * t, heads * t]
uniform sampler2D colors;  // [256, 1]
uniform int t;             // entries along a side of one thumbnail
uniform ivec2 heads;       // heads across, layers down
uniform float pitch;       // pixels from one thumbnail to the next
uniform float side;        // pixels of one thumbnail
uniform float largest;
uniform int columns;
uniform float dim;
uniform vec3 background;
in vec2 pixel;
out vec4 color;

void main() {
    ivec2 head = ivec2(pixel / pitch);
    vec2 inside = pixel - vec2(head) * pitch;
    if (max(inside.x, inside.y) >= side || any(greaterThanEqual(head, heads))) discard;
    float covered = float(t) / side;
    ivec2 from = ivec2(floor(inside) * covered), to = ivec2(min((floor(inside) + 1.0) * covered - 1e-3, vec2(t - 1)));
    float weight = -1.0;
    for (int y = from.y; y <= min(to.y, from.y + 4); ++y)
        for (int x = from.x; x <= min(to.x, from.x + 4); ++x) {
            ivec2 entry = columns == 1 ? ivec2(y, x) : ivec2(x, y);
            weight = max(weight, texelFetch(atlas, head * t + entry, 0).r);
        }
    if (weight < 0.0) {
        color = vec4(background, 1.0);
        return;
    }
    float place = sqrt(clamp(weight / max(largest, 1e-12), 0.0, 1.0));
    vec3 mapped = texelFetch(colors, ivec2(int(place * 255.0 + 0.5), 0), 0).rgb;
    color = vec4(mix(mapped, background, dim), 1.0);
}
