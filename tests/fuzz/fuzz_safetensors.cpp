#include "base/check.h"
#include "io/heap_tensors.h"
#include "io/safetensors.h"
#include "model/loading/quantized/quantized_tensors.h"

namespace {

using namespace headlight;
using Method = Quantization::Method;

/// Reads the tensors as each method quantizes them; each tensor lies in a heap block of its size.
void read_quantized(const Safetensors& file) {
    tensors_on_the_heap(true);
    for (const Method method : {Method::none, Method::fp8, Method::mxfp4, Method::bitsandbytes, Method::gptq,
                                Method::awq, Method::packed}) {
        std::vector<TensorFile> files(1);
        files[0].tensors = file.tensors;
        files[0].file = tensor_owner(nullptr, files[0].tensors);
        Quantization how;
        how.method = method;
        how.name = "fuzzed";
        how.group = file.tensors.size() % 2 ? 32 : 0;
        how.bits = file.tensors.size() % 3 ? 4 : 8;
        how.block_rows = how.block_columns = 32;
        const auto out = guarded([&] { return lay_out_quantized(files, how, "input", nullptr); });
        for (const auto& [name, tensor] :
             out ? out->tensors.tensors : std::map<std::string, StoredTensor>()) {
            std::vector<float> values(static_cast<size_t>(element_count(tensor.shape)));
            tensor.dtype->decode(tensor.bytes.data(), std::ssize(values), values.data());
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (!file) return 0;
    for (const auto& [name, tensor] : file->tensors) {
        if (!tensor.dtype->holds_weights()) continue;
        std::vector<float> values(element_count(tensor.shape));
        const std::vector<std::byte> aligned(tensor.bytes.begin(), tensor.bytes.end());
        tensor.dtype->decode(aligned.data(), static_cast<int64_t>(values.size()), values.data());
    }
    read_quantized(*file);
    return 0;
}
