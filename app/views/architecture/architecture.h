// Declares the parts of the diagram of a model and of its side panel.
#pragma once

#include "io/numbers.h"
#include "model/loading/parameter_counts.h"
#include "parts/controls.h"
#include "session/viewport.h"

namespace headlight {

struct View;

/// A model known only by its configuration.
struct NamedConfig {
    std::string name;
    ModelConfig config;
};

struct ArchitectureState {
    enum class Of { open, gpt3, file };
    bool maps = false, mean = false;            // side panel: attention, and of all heads' mean
    Of config = Of::open;                       // the architecture shown
    std::optional<NamedConfig> file;            // the last one dropped or opened
    WeightsPart part = WeightsPart::attention;  // block whose weights are shown
    int dimension = -1;                         // hovered dimension of the residual stream; −1: none
    Viewport seen;                              // of the side panel
    float diagram_hidden = 0;                   // scroll offset of a diagram higher than the window
    void visit(FieldVisitor& visitor);
};

/// Shows the configuration of a config.json, a folder with one, or a GGUF file; "gpt-3": GPT-3's.
Status take_config(Session& session, const std::string& path);

void draw_architecture(Scene& scene, Rect area);
std::vector<Question> ask_architecture(const Scene& scene);
std::vector<NumberTable> architecture_numbers(const Scene& scene);

struct CountedConfig {
    const std::string& name;
    const ModelConfig& config;
    bool open;  // of the open model, which has weights and views
};
CountedConfig counted_config(const Scene& scene);

struct Block {
    std::string name;
    std::vector<std::string> shapes;  // "8 heads", "W_O 256 × 256": do not wrap
    std::vector<std::string> rows;    // prefixes of its rows in the parameter table
    const char* view = nullptr;       // opened by a second click
    WeightsPart part = WeightsPart::attention;
    bool in_layer = false, thin = false;
    bool adds = false;  // its output is added to the residual stream
    bool from_encoder = false;
    bool second = false;  // LayerSpec::second
    const char* help = "";
    /// Of each layer the one whose keys and values it reads, −1: it makes its own; empty: all do.
    std::vector<int> sources = {};

    bool is_attention() const { return part == WeightsPart::attention; }
    bool is_of_attention() const { return is_attention() || part == WeightsPart::attention_norm; }
};

std::vector<Block> blocks_of(const ModelConfig& config, int stack);

/// Settings that all parts of the diagram share.
struct Diagram {
    const ModelConfig& config;
    const std::vector<ParameterRow>& table;
    bool opens;       // blocks of the open model show weights and open views
    bool numbered;    // blocks are numbered like their map in the side panel
    float scale = 1;  // of gaps, smaller in a low window
    float unit(float points) const { return points * scale; }
};

/// Draws the stacks of blocks side by side, fitted in height, else scrolling. Returns the hovered block.
const Block* draw_diagram(Scene& scene, Diagram diagram, Rect area,
                          const std::vector<std::vector<Block>>& stacks);

/// Draws the number of a kind of attention, in the diagram and above its map.
void draw_kind_number(Ui& ui, ImVec2 at, int number);

/// True if a row of the parameter table belongs to a block.
bool contains_row(const Block& block, const ParameterRow& row);

/// Draw parts of the side panel from the top of `place`; return the height. `pointed`: highlighted block.
float draw_counts(Scene& scene, Rect place, const ModelConfig& config);
float draw_parameters(Scene& scene, Rect place, const ModelConfig& config,
                      const std::vector<ParameterRow>& table, const Block* pointed);
float draw_block_weights(Scene& scene, Rect place);

/// Draws the kinds of attention of the selected layer side by side.
void draw_layer_maps(Scene& scene, Rect area);

View architecture_view();

}  // namespace headlight
