#version 330 core
// A rectangle in window pixels, y down.
uniform vec4 rect;      // x, y, width, height
uniform vec2 viewport;  // width, height
out vec2 pixel;         // position inside the rectangle, in pixels

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    pixel = corner * rect.zw;
    vec2 at = (rect.xy + pixel) / viewport;
    gl_Position = vec4(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
}
