#include "core/params/param.h"

#include "core/params/read_struct.h"

namespace slipway {
namespace {

constexpr uint32_t kKnownFlags = SLW_PARAM_NO_WEIGHT_DECAY | SLW_PARAM_EXPERT | SLW_PARAM_MATRIX | SLW_PARAM_EMBEDDING |
                                 SLW_PARAM_OUTPUT | SLW_PARAM_FROZEN | SLW_PARAM_BUFFER;
constexpr int32_t kMaxDims = 8;

}  // namespace

int64_t element_count(const std::vector<int64_t>& shape) {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

ParamDeclaration::ParamDeclaration(const slw_param_decl& other) : decl_(read_struct(&other, "slw_param_decl")) {
  decl_.struct_size = SLW_SIZE_TO(slw_param_decl, former_names);
  if (other.name == nullptr || other.name[0] == '\0') throw PluginError("a parameter was declared without a name");
  decl_.name = keep(other.name);
  name_ = &texts_.back();
  copy_shapes(decl_);
  copy_cuts_and_blocks(decl_);
  decl_.grad_sum_group = keep(decl_.grad_sum_group);
  decl_.tie = keep(decl_.tie);
  decl_.unit = keep(decl_.unit);
  decl_.stack = keep(decl_.stack);
  for (uint32_t i = 0; i < decl_.num_former_names; ++i) former_names_.push_back(keep(decl_.former_names[i]));
  decl_.former_names = former_names_.data();
  check();
}

const char* ParamDeclaration::keep(const char* text) {
  if (text == nullptr) return nullptr;
  return texts_.emplace_back(text).c_str();
}

void ParamDeclaration::copy_shapes(const slw_param_decl& other) {
  if (other.ndim < 0 || other.ndim > kMaxDims || (other.ndim > 0 && other.global_shape == nullptr)) {
    throw PluginError("parameter " + name() + ": ndim is " + std::to_string(other.ndim) + ", allowed are 0 to 8");
  }
  const int64_t* padded = other.padded_shape != nullptr ? other.padded_shape : other.global_shape;
  global_shape_.assign(other.global_shape, other.global_shape + other.ndim);
  padded_shape_.assign(padded, padded + other.ndim);
  decl_.global_shape = global_shape_.data();
  decl_.padded_shape = padded_shape_.data();
}

void ParamDeclaration::copy_cuts_and_blocks(const slw_param_decl& other) {
  for (uint32_t i = 0; i < other.num_cuts; ++i) {
    cuts_.push_back(read_struct(other.cuts[i], "slw_cut"));
    cuts_.back().group = keep(cuts_.back().group);
    cut_pointers_.push_back(&cuts_.back());
  }
  for (uint32_t i = 0; i < other.num_blocks; ++i) {
    blocks_.push_back(read_struct(other.blocks[i], "slw_block"));
    blocks_.back().name = keep(blocks_.back().name);
    block_pointers_.push_back(&blocks_.back());
  }
  decl_.cuts = cut_pointers_.data();
  decl_.blocks = block_pointers_.data();
}

void ParamDeclaration::check() const {
  const auto refuse = [this](const std::string& why) { throw PluginError("parameter " + name() + ": " + why); };
  check_flags(decl_.flags, kKnownFlags, ("parameter " + name()).c_str());
  int64_t numel = 1;
  for (size_t d = 0; d < global_shape_.size(); ++d) {
    if (global_shape_[d] <= 0 || padded_shape_[d] < global_shape_[d] ||
        __builtin_mul_overflow(numel, padded_shape_[d], &numel)) {
      refuse("shape " + shape_text(global_shape_) + " padded to " + shape_text(padded_shape_) + " is not possible");
    }
  }
  if (decl_.init < SLW_INIT_ZEROS || decl_.init > SLW_INIT_CUSTOM) refuse("unknown init rule");
  for (const slw_cut& cut : cuts_) {
    if (cut.group == nullptr || cut.dim < 0 || cut.dim >= decl_.ndim) refuse("a cut names no group or no dimension");
  }
  int64_t rows = 0;
  for (const slw_block& block : blocks_) rows += block.rows;
  const int64_t repeat = decl_.block_repeat == 0 ? 1 : decl_.block_repeat;
  if (!blocks_.empty() && (decl_.ndim < 1 || rows * repeat != global_shape_[0])) {
    refuse("its row blocks cover " + std::to_string(rows * repeat) + " of " + shape_text(global_shape_) + " rows");
  }
}

}  // namespace slipway
