// The parts of the diagram of a model, and what stands beside it.
#pragma once

#include "io/numbers.h"
#include "model/loading/parameter_counts.h"
#include "parts/controls.h"
#include "session/viewport.h"

namespace headlight {

struct View;

/// A model of which only a configuration is known.
struct NamedConfig {
    std::string name;
    ModelConfig config;
};

struct ArchitectureState {
    enum class Of { open, gpt3, file };
    bool maps = false, mean = false;  // attention beside an encoder–decoder's diagram; the mean of all heads
    Of config = Of::open;             // whose architecture
    std::optional<NamedConfig> file;            // the last one that was dropped or named
    WeightsPart part = WeightsPart::attention;  // of the selected head's layer: whose weights are shown
    int dimension = -1;                         // of the residual stream, under the mouse; −1: none
    Viewport seen;                              // what stands beside the diagram
    float diagram_hidden = 0;                   // of a diagram that is higher than the window
    void visit(FieldVisitor& visitor);
};

/// Counts the parameters of a config.json, a folder that holds one, or a GGUF file; "gpt-3": GPT-3's.
Status take_config(Session& session, const std::string& path);

void draw_architecture(Scene& scene, Rect area);
std::vector<Question> ask_architecture(const Scene& scene);
std::vector<NumberTable> architecture_numbers(const Scene& scene);

/// The configuration that the view shows, and its name.
struct CountedConfig {
    const std::string& name;
    const ModelConfig& config;
    bool open;  // it is the open model's: it has weights, and blocks open views
};
CountedConfig counted_config(const Scene& scene);

/// A block of the diagram.
struct Block {
    std::string name;
    std::vector<std::string> shapes;  // "8 heads", "W_O 256 × 256": what is not to be broken
    std::vector<std::string> rows;    // beginnings of the rows of the parameter table that it stands for
    const char* view = nullptr;       // what a second click opens
    WeightsPart part = WeightsPart::attention;
    bool in_layer = false, thin = false;
    bool adds = false;  // its output is added to the residual stream
    bool from_encoder = false;
    const char* help = "";

    bool is_attention() const { return part == WeightsPart::attention; }
    bool is_of_attention() const { return is_attention() || part == WeightsPart::attention_norm; }
};

/// The blocks of one stack, from the bottom to the top.
std::vector<Block> blocks_of(const ModelConfig& config, int stack);

/// The diagram of a model: what all of its parts need to know.
struct Diagram {
    const ModelConfig& config;
    const std::vector<ParameterRow>& table;
    bool opens;       // blocks show weights and open views: it is the open model's
    bool numbered;    // blocks have the number of their attention's map beside the diagram
    float scale = 1;  // of what stands between texts, where the window is low
    float unit(float points) const { return points * scale; }
};

/// Draws the stacks of blocks, each in a column of the area, as high as the area within reason; scrolls what
/// is higher. Returns the block that is pointed at, or null.
const Block* draw_diagram(Scene& scene, Diagram diagram, Rect area,
                          const std::vector<std::vector<Block>>& stacks);

/// The number of a kind of attention, in the diagram and over its map.
void draw_kind_number(Ui& ui, ImVec2 at, int number);

/// Whether a row of the parameter table belongs to a block.
bool stands_for(const Block& block, const ParameterRow& row);

/// Parts of what stands beside the diagram, from the top of `place` down; each returns its height. `pointed`:
/// the block whose rows are lit, or null.
float draw_counts(Scene& scene, Rect place, const ModelConfig& config);
float draw_parameters(Scene& scene, Rect place, const ModelConfig& config,
                      const std::vector<ParameterRow>& table, const Block* pointed);
float draw_block_weights(Scene& scene, Rect place);

/// The kinds of attention of the chosen layer, side by side.
void draw_layer_maps(Scene& scene, Rect area);

View architecture_view();

}  // namespace headlight
