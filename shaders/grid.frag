#version 330 core
// Thumbnails of heads in one draw: an atlas of small pictures, laid out in slots.
uniform sampler2D atlas;   // [layers * t, heads * t]
uniform sampler2D slots;   // [slots, 3]: which thumbnail (-1: none), how far it fades into the background, the weight of its brightest color
uniform sampler2D colors;  // [256, 1]
uniform int t;             // entries along a side of one thumbnail
uniform int heads;         // thumbnails across the atlas
uniform ivec2 layout_;     // slots across, slots in all
uniform vec2 pitch;        // pixels from one thumbnail to the next
uniform float side;        // pixels of one thumbnail
uniform int linear;        // 1: colors by the weight, 0: by its square root
uniform int columns;
uniform vec3 background;
in vec2 pixel;
out vec4 color;

void main() {
    ivec2 at = ivec2(pixel / pitch);
    vec2 inside = pixel - vec2(at) * pitch;
    int slot = at.y * layout_.x + at.x;
    if (max(inside.x, inside.y) >= side || at.x >= layout_.x || slot >= layout_.y) discard;
    float number = texelFetch(slots, ivec2(slot, 0), 0).r;
    if (number < 0.0) discard;
    int index = int(number + 0.5);
    float fade = texelFetch(slots, ivec2(slot, 1), 0).r, largest = texelFetch(slots, ivec2(slot, 2), 0).r;
    ivec2 head = ivec2(index % heads, index / heads);
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
    if (isnan(weight)) {
        color = vec4(mix(vec3(0.5), background, fade), 1.0);
        return;
    }
    float place = clamp(weight / max(largest, 1e-12), 0.0, 1.0);
    vec3 mapped = texelFetch(colors, ivec2(int((linear == 1 ? place : sqrt(place)) * 255.0 + 0.5), 0), 0).rgb;
    color = vec4(mix(mapped, background, fade), 1.0);
}
