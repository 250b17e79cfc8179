#version 330 core
// Thumbnails of heads in one draw, from an atlas of small pictures.
uniform sampler2D atlas;   // [layers * t, heads * t]
uniform sampler2D colors;  // [256, 1]
uniform sampler2D signed_colors;  // of entries from 2 on: 2 and a place 0 ... 1
uniform int t;             // entries along a side of one thumbnail
uniform float covered;     // of them by a pixel
uniform float heads;       // thumbnails across the atlas
uniform int linear;        // 1: colors by the weight, 0: by its square root
uniform int columns;
uniform sampler2D sinks;      // [layers * sink_t, heads]: what each query leaves to the sink of its head; negative: it has none
uniform int sink_t;           // queries of one thumbnail
uniform float sink_covered;   // of them by a pixel
uniform float apart;          // pixels between the sink and the first key
uniform vec3 background;
in vec2 inside;
flat in vec3 slot;  // which thumbnail, how far it fades, the weight of its brightest color
out vec4 color;

void main() {
    float row = floor((slot.x + 0.5) / heads);  // in floats: whole numbers are divided one by one
    ivec2 head = ivec2(slot.x - row * heads + 0.5, row), entry = min(ivec2(inside * covered), t - 1);
    vec2 along = columns == 1 ? inside.yx : inside;  // keys, queries
    float weight = -1.0;
    if (along.x >= 0.0)
        weight = texelFetch(atlas, head * t + (columns == 1 ? entry.yx : entry), 0).r;
    else if (along.x < -apart) {  // each pixel takes the largest weight that it covers
        float first = floor(along.y) * sink_covered, last = first + sink_covered - 1e-3;
        for (int query = int(first); query <= min(int(last), sink_t - 1); ++query)
            weight = max(weight, texelFetch(sinks, ivec2(head.x, head.y * sink_t + query), 0).r);
    }
    float place = clamp(weight / max(slot.z, 1e-12), 0.0, 1.0);
    vec3 mapped = texelFetch(colors, ivec2(int((linear == 1 ? place : sqrt(place)) * 255.0 + 0.5), 0), 0).rgb;
    if (weight >= 1.5)
        mapped = texelFetch(signed_colors, ivec2(int(clamp(weight - 2.0, 0.0, 1.0) * 255.0 + 0.5), 0), 0).rgb;
    if (isnan(weight)) mapped = vec3(0.5);
    color = vec4(weight < 0.0 ? background : mix(mapped, background, slot.y), 1.0);
}
