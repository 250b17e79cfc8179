// State that the parts of the window share: the session, the answer on screen, what draws it.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "parts/scene.h"
#include "session/commands/command.h"
#include "window/pointer.h"
#include "window/window.h"

struct GLFWwindow;

namespace headlight {

struct WindowState {
    explicit WindowState(const WindowOptions& options) : options(options) {}

    WindowOptions options;
    GLFWwindow* window = nullptr;
    Session session;
    Fields fields;
    Input input;
    PointerEvents pointer;
    double key_at = 0;  // when the oldest key press that is not on screen yet arrived
    std::unique_ptr<Worker> worker;
    std::shared_ptr<const WorkAnswer> answer;

    TextPainter text;
    std::unique_ptr<HeatmapRenderer> heat;
    std::unique_ptr<Ui> ui;
    Pictures pictures;
    Texture colors;
    float dim = 0;    // how far the old answer fades in this frame
    Hovered pointed;  // what is under the mouse in this frame

    std::vector<SentCommand> sent;  // by the frame; run after it
    int frames_wanted = 3;          // Dear ImGui needs a frame to notice, and one to react
    int frames_drawn = 0;
    bool software = false;      // drawn by the CPU
    bool exposed = true;        // the window may have lost its picture
    bool moved = false;         // the window, or its edges, since this was last checked
    std::exception_ptr thrown;  // by a callback of GLFW, whose C frames no exception may pass

    void want_frames(int count) { frames_wanted = std::max(frames_wanted, count); }
    /// Whether the session is saved for the next start.
    bool remembers() const { return options.screenshot.empty() && options.frames == 0; }
    const SentenceResult* sentence() const { return answer ? answer->sentence.get() : nullptr; }
    /// The sentence on screen, if it has a trace.
    const SentenceResult* shown() const { return sentence() && sentence()->trace ? sentence() : nullptr; }
    Scene scene() {
        return {*ui,    session,           session.views, pointed, answer.get(), pictures,
                fields, worker->opening(), colors.id(),   dim,     &sent};
    }

    /// The texts as typed; text that the program put into the second field counts as empty.
    std::string typed_second() const { return fields.second.typed(); }
    std::string typed_text() const { return fields.sentence.text() + '\n' + typed_second(); }
};

}  // namespace headlight
