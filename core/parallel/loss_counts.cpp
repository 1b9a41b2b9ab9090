#include "core/parallel/loss_counts.h"

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

template <class T>
double sum_as(const slw_tensor& tensor, int64_t n) {
  const T* values = reinterpret_cast<const T*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(values[i]);
  return total;
}

double sum_of_field(const LossDeclaration& loss, const slw_batch& batch) {
  const slw_tensor* tensor = batch.get(&batch, loss.norm_field.c_str());
  if (tensor == nullptr) {
    throw DataError("loss '" + loss.name + "' is divided by the sum of the batch field '" + loss.norm_field +
                    "', which the dataset does not give");
  }
  int64_t n = 1;
  for (int32_t d = 0; d < tensor->ndim; ++d) n *= tensor->shape[d];
  switch (tensor->dtype.code * 256 + tensor->dtype.bits) {
    case SLW_CODE_FLOAT * 256 + 32:
      return sum_as<float>(*tensor, n);
    case SLW_CODE_FLOAT * 256 + 64:
      return sum_as<double>(*tensor, n);
    case SLW_CODE_INT * 256 + 64:
      return sum_as<int64_t>(*tensor, n);
    case SLW_CODE_UINT * 256 + 8:
      return sum_as<uint8_t>(*tensor, n);
    default:
      throw DataError("batch field '" + loss.norm_field + "' has a dtype that cannot be summed");
  }
}

double count(const LossDeclaration& loss, const Microbatch& microbatch) {
  switch (loss.norm) {
    case SLW_NORM_FIELD:
      return sum_of_field(loss, *microbatch.batch);
    case SLW_NORM_TOKENS:
      return static_cast<double>(microbatch.batch_size * microbatch.seq_length);
    case SLW_NORM_SAMPLES:
      return static_cast<double>(microbatch.batch_size);
    case SLW_NORM_MICROBATCH:
      return 1.0;
    default:
      throw PluginError("loss '" + loss.name +
                        "' is counted after forward (SLW_NORM_OUTPUT), which this version does not offer");
  }
}

}  // namespace

LossNormalization loss_normalization(const std::string& name) {
  if (name == "token") return LossNormalization::kToken;
  if (name == "microbatch") return LossNormalization::kMicrobatch;
  throw ConfigError("train.loss_normalization is " + in_quotes(name) + "; allowed: token, microbatch");
}

StepHeader count_losses(const std::vector<LossDeclaration>& losses, const std::vector<Microbatch>& microbatches) {
  StepHeader header;
  header.totals.assign(losses.size(), 0.0);
  header.num_microbatches = static_cast<double>(microbatches.size());
  for (const Microbatch& microbatch : microbatches) {
    std::vector<double>& counts = header.counts.emplace_back();
    for (size_t i = 0; i < losses.size(); ++i) {
      counts.push_back(count(losses[i], microbatch));
      header.totals[i] += counts.back();
    }
  }
  return header;
}

double loss_gradient(const StepHeader& header, const LossDeclaration& loss, size_t loss_index, size_t microbatch,
                     LossNormalization normalization) {
  // Nothing to predict means nothing to divide: the sum is zero as well.
  const auto denominator = [](double n) { return n > 0 ? n : 1.0; };
  if (normalization == LossNormalization::kToken) return loss.weight / denominator(header.totals[loss_index]);
  return loss.weight / (denominator(header.counts[microbatch][loss_index]) * header.num_microbatches);
}

}  // namespace slipway
