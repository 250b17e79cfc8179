#version 330 core
// A thumbnail in its slot of a grid, in window pixels, y down; one instance for each slot.
uniform sampler2D slots;  // a column each, in bands of three rows: which thumbnail (-1: none), how far it fades into the background, the weight of its brightest color
uniform vec4 rect;        // x, y, width, height of the grid
uniform vec2 viewport;    // width, height
uniform float across;     // slots in a row
uniform vec2 pitch;       // pixels from one thumbnail to the next
uniform float side;       // pixels of one thumbnail
uniform float beside;     // pixels before its keys, for the weights of sinks; 0: none
uniform int columns;      // 1: queries run along columns
out vec2 inside;          // position in the thumbnail, in pixels; below 0 along the keys: beside them
flat out vec3 slot;       // its three numbers

void main() {
    int width = textureSize(slots, 0).x, band = 3 * (gl_InstanceID / width), column = gl_InstanceID % width;
    slot = vec3(texelFetch(slots, ivec2(column, band), 0).r, texelFetch(slots, ivec2(column, band + 1), 0).r,
                texelFetch(slots, ivec2(column, band + 2), 0).r);
    float row = floor((float(gl_InstanceID) + 0.5) / across);
    vec2 before = columns == 1 ? vec2(0.0, beside) : vec2(beside, 0.0);
    inside = vec2(gl_VertexID & 1, gl_VertexID >> 1) * (side + before) - before;
    vec2 at = (rect.xy + vec2(float(gl_InstanceID) - row * across, row) * pitch + inside) / viewport;
    gl_Position = slot.x < 0.0 ? vec4(2.0, 2.0, 0.0, 1.0) : vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
}
