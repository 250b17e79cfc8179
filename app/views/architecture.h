// The parts of the diagram of a model.
#pragma once

#include "model/parameters.h"
#include "views/parts.h"

namespace headlight {

struct View;

struct ArchitectureState {
    bool maps = true, mean = false;  // attention beside an encoder–decoder's diagram; the mean of all heads
    int config = 0;                  // whose architecture: 0: the open model's; 1: GPT-3's
    void visit(FieldVisitor& v) {
        v.choose("model_maps", maps,
                 {"model beside",
                  "Model: side panel",
                  "what stands beside a diagram of two stacks",
                  {"parameters", "attention"}});
        v.choose("model_mean", mean,
                 {"model maps of",
                  "Model: attention of",
                  "the selected head, or the mean of all heads",
                  {"head", "mean"}});
        v.choose(nullptr, config,
                 {"model architecture",
                  "Model: architecture",
                  "the open model's, or that of GPT-3",
                  {"open", "gpt-3"}});
    }
};

inline constexpr float kWidestBlock = 380;

void draw_architecture(Scene& scene, Rect area);
std::vector<Question> ask_architecture(const Scene& scene);

/// A block of the diagram.
struct Block {
    std::string name, shape;
    std::vector<std::string> rows;  // beginnings of the rows of the parameter table that it stands for
    const char* view = nullptr;     // what a click opens
    int block = -1;                 // … on which attention block
    bool in_layer = false, thin = false;
    bool adds = false;  // its output is added to the residual stream
    bool from_encoder = false;
    const char* help = "";
};

/// The blocks of one stack, from the bottom to the top.
std::vector<Block> blocks_of(const ModelConfig& config, int stack);

/// The diagram of a model: what all of its parts need to know.
struct Diagram {
    const ModelConfig& config;
    const std::vector<ParameterRow>& table;
    bool opens;       // blocks open views: it is the open model's
    bool numbered;    // blocks have the number of their attention's map beside the diagram
    float scale = 1;  // of heights, where the window is low
    float unit(float points) const { return points * scale; }
};

/// Draws the stacks of blocks, each in a column of its own, as high as the area within reason; returns the
/// block that is pointed at, or null.
const Block* draw_diagram(Scene& scene, Diagram diagram, Rect area, float column,
                          const std::vector<std::vector<Block>>& stacks);

/// The number of a kind of attention, in the diagram and over its map.
void draw_kind_number(Ui& ui, ImVec2 at, int number);

/// Whether a row of the parameter table belongs to a block.
bool stands_for(const Block& block, const ParameterRow& row);

/// `pointed`: the block whose rows are lit, or null.
void draw_parameters(Scene& scene, Rect area, const ModelConfig& config,
                     const std::vector<ParameterRow>& table, const Block* pointed);

/// The kinds of attention of the chosen layer, side by side.
void draw_layer_maps(Scene& scene, Rect area);

View architecture_view();

}  // namespace headlight
