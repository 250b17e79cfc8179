// What the parts of the window share: what is open and wanted, what is shown of it, what it is drawn with.
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
    double key_at = 0;  // when the oldest key press not yet on the screen came
    std::unique_ptr<Worker> worker;
    std::shared_ptr<const WorkAnswer> answer;

    TextPainter text;
    std::unique_ptr<HeatmapRenderer> heat;
    std::unique_ptr<Ui> ui;
    Pictures pictures;
    Texture colors;
    float dim = 0;    // how far what is shown fades in this frame
    Hovered pointed;  // what is under the mouse in this frame

    std::vector<SentCommand> sent;  // by the frame; carried out after it
    int frames_wanted = 3;          // Dear ImGui needs a frame to notice, one to react
    int frames_drawn = 0;
    bool software = false;      // the processor draws
    bool exposed = true;        // the window may have lost its picture
    bool moved = false;         // the window, or its edges, since that was noted
    std::exception_ptr thrown;  // by what GLFW called, whose C frames no exception may pass

    void want_frames(int count) { frames_wanted = std::max(frames_wanted, count); }
    /// Whether what is done is remembered for the next start.
    bool remembers() const { return options.screenshot.empty() && options.frames == 0; }
    const SentenceResult* sentence() const { return answer ? answer->sentence.get() : nullptr; }
    /// The sentence that is shown, where there is a pass over it.
    const SentenceResult* shown() const { return sentence() && sentence()->trace ? sentence() : nullptr; }
    Scene scene() {
        return {*ui,    session,           session.views, pointed, answer.get(), pictures,
                fields, worker->opening(), colors.id(),   dim,     &sent};
    }

    /// The texts as a person typed them; what the program itself shows in the second field is none.
    std::string typed_second() const { return fields.second.typed(); }
    std::string typed_text() const { return fields.sentence.text() + '\n' + typed_second(); }
};

}  // namespace headlight
