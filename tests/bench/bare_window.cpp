// The least a Dear ImGui + GLFW program does: opens a window and draws the library's own demo. Prints
// milliseconds from the start of main to the first finished frame, and the median of 100 further frames, as
// the window's --frames does.
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <epoxy/gl.h>
#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/memory.h"

int main() {
    if (!glfwInit()) return 1;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    GLFWwindow* window = glfwCreateWindow(1600, 1000, "bare", nullptr, nullptr);
    if (!window) return 1;
    glfwMakeContextCurrent(window);
    glfwSwapInterval(0);
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui_ImplGlfw_InitForOpenGL(window, true);
    ImGui_ImplOpenGL3_Init("#version 330");
    std::vector<double> frames;
    double first = 0;
    for (int i = 0; i < 103; ++i) {
        glfwPollEvents();
        const double begin = glfwGetTime();
        ImGui_ImplOpenGL3_NewFrame();
        ImGui_ImplGlfw_NewFrame();
        ImGui::NewFrame();
        ImGui::SetNextWindowPos({0, 0});
        ImGui::SetNextWindowSize({1600, 1000});
        ImGui::ShowDemoWindow();
        ImGui::Render();
        glViewport(0, 0, 1600, 1000);
        glClear(GL_COLOR_BUFFER_BIT);
        ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
        glfwSwapBuffers(window);
        glFinish();
        if (i == 0) first = glfwGetTime();  // GLFW's clock starts with glfwInit, the first thing main does
        if (i > 2) frames.push_back(glfwGetTime() - begin);
    }
    std::sort(frames.begin(), frames.end());
    std::printf("{\"start_ms\": %.2f, \"frame_ms\": %.3f, \"frame_p95_ms\": %.3f, \"peak_mb\": %.1f}\n",
                first * 1e3, frames[50] * 1e3, frames[95] * 1e3,
                double(headlight::peak_memory()) / (1 << 20));
}
