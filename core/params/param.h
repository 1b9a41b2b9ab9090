// One parameter of the model: the core's own copy of a plugin's declaration, and what follows from it.
// Immutable after construction; any thread.
#pragma once

#include <slipway/model.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace slipway {

// Owns every byte a slw_param_decl points to. Not copyable: decl() points into it.
class ParamDeclaration {
 public:
  // Throws PluginError when the declaration contradicts itself (shape, cut, block, flag, enum).
  explicit ParamDeclaration(const slw_param_decl& other);
  ParamDeclaration(const ParamDeclaration&) = delete;
  ParamDeclaration& operator=(const ParamDeclaration&) = delete;

  const slw_param_decl& decl() const { return decl_; }
  const std::string& name() const { return *name_; }
  const std::vector<int64_t>& global_shape() const { return global_shape_; }  // logical
  const std::vector<int64_t>& padded_shape() const { return padded_shape_; }
  bool has(uint32_t flag) const { return (decl_.flags & flag) != 0; }
  bool is_trained() const { return !has(SLW_PARAM_FROZEN) && !has(SLW_PARAM_BUFFER); }

 private:
  const char* keep(const char* text);
  void copy_shapes(const slw_param_decl& other);
  void copy_cuts_and_blocks(const slw_param_decl& other);
  void check() const;

  slw_param_decl decl_{};
  const std::string* name_ = nullptr;
  std::vector<int64_t> global_shape_, padded_shape_;
  std::deque<std::string> texts_;
  std::deque<slw_cut> cuts_;
  std::deque<slw_block> blocks_;
  std::vector<const slw_cut*> cut_pointers_;
  std::vector<const slw_block*> block_pointers_;
  std::vector<const char*> former_names_;
};

// Where a stage declared the parameter: `index` is the plugin's index within that stage.
struct ParamUse {
  int32_t chunk;
  int32_t index;
};

// A box of the padded global tensor that lies in the local one.
struct LocalBlock {
  std::vector<int64_t> local_offset, global_offset, shape;
};

// The local tensor, row-major, and the boxes that it is made of.
struct LocalLayout {
  std::vector<int64_t> shape;
  std::vector<LocalBlock> blocks;
};

// A parameter on this rank. A tie declared twice on one rank is one Param with two uses.
struct Param {
  std::shared_ptr<const ParamDeclaration> declaration;
  int32_t index = 0;           // unique over the rank's chunks
  std::vector<ParamUse> uses;  // first: where it was declared first
  LocalLayout local;           // padded, after cuts
  int64_t local_numel = 0;
  bool is_cut = false;          // over the tensor parallel ranks: each holds another part
  bool is_shared_copy = false;  // a tie whose first copy is on an earlier pipeline stage: not counted, not stored

  const std::string& name() const { return declaration->name(); }
  const slw_param_decl& decl() const { return declaration->decl(); }
};

int64_t element_count(const std::vector<int64_t>& shape);
std::string shape_text(const std::vector<int64_t>& shape);  // "[17, 9]"

}  // namespace slipway
