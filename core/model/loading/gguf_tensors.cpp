// Tabulates the names of tensors in GGUF files.
#include "model/loading/gguf_tensors.h"

namespace headlight {

namespace {

// ffn_…_shexp: the MLP that all tokens share beside the experts; ffn_…: that of a layer without experts.
constexpr TensorRow kGgufTensors[] = {
    {Slot::token_embedding, "", "token_embd"},
    {Slot::position_embedding, "", "position_embd"},
    {Slot::type_embedding, "", "token_types"},
    {Slot::embed_norm, "", "token_embd_norm"},
    {Slot::attn_norm, "", "blk.#.attn_norm"},
    {Slot::qkv, "", "blk.#.attn_qkv"},
    {Slot::q_down, "", "blk.#.attn_q_a"},
    {Slot::q_down_norm, "", "blk.#.attn_q_a_norm"},
    {Slot::q, "", "blk.#.attn_q"},
    {Slot::q, "", "blk.#.attn_q_b"},
    {Slot::kv_down, "", "blk.#.attn_kv_a_mqa"},
    {Slot::kv_down_norm, "", "blk.#.attn_kv_a_norm"},
    {Slot::kv_up, "", "blk.#.attn_kv_b"},
    {Slot::kv_up, "", "blk.#.attn_k_b"},  // and attn_v_b
    {Slot::k, "", "blk.#.attn_k"},
    {Slot::v, "", "blk.#.attn_v"},
    {Slot::o, "", "blk.#.attn_output"},
    {Slot::o, "", "blk.#.ssm_out"},
    {Slot::attn_gate, "", "blk.#.attn_gate"},
    {Slot::sinks, "", "blk.#.attn_sinks.weight"},
    {Slot::q_norm, "", "blk.#.attn_q_norm"},
    {Slot::k_norm, "", "blk.#.attn_k_norm"},
    {Slot::attn_post_norm, "", "blk.#.post_attention_norm"},
    {Slot::mlp_norm, "", "blk.#.ffn_norm"},
    {Slot::gate, "", "blk.#.ffn_gate"},
    {Slot::gate, "", "blk.#.ffn_gate_shexp"},
    {Slot::up, "", "blk.#.ffn_up"},
    {Slot::up, "", "blk.#.ffn_up_shexp"},
    {Slot::down, "", "blk.#.ffn_down"},
    {Slot::down, "", "blk.#.ffn_down_shexp"},
    {Slot::router, "", "blk.#.ffn_gate_inp"},
    {Slot::router_bias, "", "blk.#.exp_probs_b.bias"},
    {Slot::shared_gate, "", "blk.#.ffn_gate_inp_shexp"},
    {Slot::expert_gate_up, "", "blk.#.ffn_gate_up_exps", Stored::stacked},
    {Slot::expert_gate, "", "blk.#.ffn_gate_exps", Stored::stacked},
    {Slot::expert_up, "", "blk.#.ffn_up_exps", Stored::stacked},
    {Slot::expert_down, "", "blk.#.ffn_down_exps", Stored::stacked},
    {Slot::mlp_post_norm, "", "blk.#.post_ffw_norm"},
    {Slot::mixer_in, "", "blk.#.ssm_in"},
    {Slot::mixer_rates, "", "blk.#.ssm_ba"},
    {Slot::strength, "", "blk.#.ssm_beta"},
    {Slot::decay, "", "blk.#.ssm_alpha"},
    {Slot::decay_rate, "", "blk.#.ssm_a"},
    {Slot::step_bias, "", "blk.#.ssm_dt.bias"},
    {Slot::skip, "", "blk.#.ssm_d"},
    {Slot::mixer_kernel, "", "blk.#.ssm_conv1d.weight", Stored::kernels},
    {Slot::mixer_kernel_bias, "", "blk.#.ssm_conv1d.bias"},
    {Slot::gate_norm, "", "blk.#.ssm_norm.weight", Stored::parts},
    {Slot::final_norm, "", "output_norm"},
    {Slot::unembedding, "", "output"},
    {Slot::unembedding_bias, "", "output.bias"},
};

}  // namespace

std::span<const TensorRow> gguf_tensors() { return kGgufTensors; }

}  // namespace headlight
