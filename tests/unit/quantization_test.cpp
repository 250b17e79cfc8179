// Tests what configurations say of quantized weights.
#include "model/loading/quantized/quantization.h"

#include "helpers.h"

using namespace headlight;
using Method = Quantization::Method;

TEST_CASE("quantization: sizes of readable methods are checked, others are named") {
    const auto of = [](const char* inner) {
        return quantization_of(Json::parse(std::string(R"({"quantization_config":)") + inner + "}"), "x");
    };
    const auto gptq = of(R"({"quant_method":"gptq","bits":4,"group_size":-1})");
    REQUIRE(gptq);
    CHECK((gptq->method == Method::gptq && gptq->group == 0 && gptq->zeros_less_one));
    const auto second = of(R"({"quant_method":"gptq","bits":8,"checkpoint_format":"gptq_v2"})");
    CHECK((second->bits == 8 && second->group == 128 && !second->zeros_less_one));
    CHECK(of(R"({"quant_method":"awq","bits":4,"version":"GEMM"})")->method == Method::awq);
    const auto fp8 = of(
        R"({"quant_method":"fp8","weight_block_size":[128,64],"modules_to_not_convert":["lm_head","a.b"]})");
    CHECK((fp8->block_rows == 128 && fp8->block_columns == 64));
    CHECK(
        (fp8->keeps("lm_head") && fp8->keeps("a.b.c") && fp8->keeps("model.lm_head") && !fp8->keeps("a.bc")));
    for (const char* inner : {R"({"quant_method":"gptq","bits":5})", R"({"quant_method":"hqq","nbits":4})",
                              R"({"quant_method":"gptq","bits":4,"checkpoint_format":"marlin"})",
                              R"({"quant_method":"awq","bits":4,"version":"gemv"})",
                              R"({"quant_method":"compressed-tensors","format":"mxfp8-quantized"})"})
        CHECK(of(inner)->method == Method::unreadable);
    CHECK(of(R"({"quant_method":"awq","version":"gemv"})")->name == "awq, version gemv");
    for (const char* inner :
         {R"({"quant_method":"gptq","group_size":0})", R"({"quant_method":"awq","bits":1000000})",
          R"({"quant_method":"fp8","weight_block_size":[0,128]})",
          R"({"quant_method":"fp8","weight_block_size":[128]})",
          R"({"quant_method":"compressed-tensors","format":"pack-quantized",
              "config_groups":{"g":{"weights":{"group_size":0}}}})"}) {
        CAPTURE(inner);
        const auto wrong = of(inner);
        REQUIRE(!wrong);
        CHECK(wrong.error().message.starts_with("x"));
    }
}
