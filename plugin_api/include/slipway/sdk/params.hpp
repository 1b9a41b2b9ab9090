// Declares parameters: a builder for slw_param_decl, and the sink that a model's declare() fills.
#pragma once

#include <memory>
#include <slipway/sdk/structs.hpp>
#include <vector>

SLW_SDK_BEGIN

// One parameter. Owns what the declaration points to; every method returns the builder:
//   params.add(slw::Param("decoder.layers.0.mlp.linear_fc1.weight", {f, h}).cut(0, "tp").matrix().normal(0, 0.02));
class Param {
 public:
  Param(std::string name, std::vector<int64_t> global_shape)
      : name_(std::move(name)), shape_(std::move(global_shape)) {}

  Param& dtype(slw_dtype dtype) { return set(row_.dtype, dtype); }
  // Shape with vocabulary padding; equal to the logical one: no padding.
  Param& padded(std::vector<int64_t> shape) { return set(padded_, std::move(shape)); }
  // Cut over a group; parts 2: gate|up, each part is cut by itself. Outermost first when one dim is cut twice.
  Param& cut(int32_t dim, std::string group, int64_t parts = 0) {
    cuts_.push_back({dim, parts, std::move(group)});
    return *this;
  }
  // Row blocks q|k|v: call once per block, then repeat(num_query_groups).
  Param& block(std::string name, int64_t rows) {
    blocks_.push_back({rows, std::move(name)});
    return *this;
  }
  Param& repeat(int64_t block_repeat) { return set(row_.block_repeat, block_repeat); }
  Param& grad_sum(std::string group) { return set(grad_sum_group_, std::move(group)); }
  Param& tie(std::string tie) { return set(tie_, std::move(tie)); }
  Param& unit(std::string unit) { return set(unit_, std::move(unit)); }
  Param& stack(std::string stack) { return set(stack_, std::move(stack)); }
  Param& former_name(std::string name) {
    former_names_.push_back(std::move(name));
    return *this;
  }
  Param& expert(int32_t index, int32_t count) {
    row_.expert_index = index;
    row_.expert_count = count;
    return flag(SLW_PARAM_EXPERT);
  }

  Param& flag(uint32_t bits) { return set(row_.flags, row_.flags | bits); }
  Param& no_weight_decay() { return flag(SLW_PARAM_NO_WEIGHT_DECAY); }
  Param& matrix() { return flag(SLW_PARAM_MATRIX); }
  Param& embedding() { return flag(SLW_PARAM_EMBEDDING); }
  Param& output() { return flag(SLW_PARAM_OUTPUT); }
  Param& frozen() { return flag(SLW_PARAM_FROZEN); }
  Param& buffer() { return flag(SLW_PARAM_BUFFER); }

  Param& zeros() { return init(SLW_INIT_ZEROS, 0, 0); }
  Param& ones() { return init(SLW_INIT_ONES, 0, 0); }
  Param& constant(double value) { return init(SLW_INIT_CONSTANT, value, 0); }
  Param& normal(double mean, double standard_deviation) { return init(SLW_INIT_NORMAL, mean, standard_deviation); }
  Param& uniform(double begin, double end) { return init(SLW_INIT_UNIFORM, begin, end); }
  Param& custom() { return init(SLW_INIT_CUSTOM, 0, 0); }
  Param& lr_mult(double factor) { return set(row_.lr_mult, factor); }
  Param& wd_mult(double factor) { return set(row_.wd_mult, factor); }

  // The declaration; valid until the builder changes or ends.
  const slw_param_decl& decl() {
    row_.name = name_.c_str();
    row_.ndim = static_cast<int32_t>(shape_.size());
    row_.global_shape = shape_.data();
    row_.padded_shape = padded_.empty() ? nullptr : padded_.data();
    row_.grad_sum_group = text(grad_sum_group_);
    row_.tie = text(tie_);
    row_.unit = text(unit_);
    row_.stack = text(stack_);
    point_at_lists();
    return row_;
  }

 private:
  struct Cut {
    int32_t dim;
    int64_t parts;
    std::string group;
  };
  struct Block {
    int64_t rows;
    std::string name;
  };

  template <class Value>
  Param& set(Value& field, Value value) {
    field = std::move(value);
    return *this;
  }
  Param& init(int32_t rule, double a, double b) {
    row_.init = rule;
    row_.init_a = a;
    row_.init_b = b;
    return *this;
  }
  static const char* text(const std::string& s) { return s.empty() ? nullptr : s.c_str(); }

  void point_at_lists() {
    cut_rows_.clear();
    block_rows_.clear();
    former_rows_.clear();
    for (const Cut& c : cuts_) cut_rows_.push_back({Known<slw_cut>::kSize, c.dim, c.group.c_str(), c.parts});
    for (const Block& b : blocks_) block_rows_.push_back({Known<slw_block>::kSize, 0, b.name.c_str(), b.rows});
    for (const std::string& name : former_names_) former_rows_.push_back(name.c_str());
    point_at(cut_rows_, cut_pointers_, row_.num_cuts, row_.cuts);
    point_at(block_rows_, block_pointers_, row_.num_blocks, row_.blocks);
    row_.num_former_names = static_cast<uint32_t>(former_rows_.size());
    row_.former_names = former_rows_.data();
  }
  template <class Row>
  static void point_at(const std::vector<Row>& rows, std::vector<const Row*>& pointers, uint32_t& count,
                       const Row* const*& first) {
    pointers.clear();
    for (const Row& row : rows) pointers.push_back(&row);
    count = static_cast<uint32_t>(rows.size());
    first = pointers.data();
  }

  slw_param_decl row_ = make<slw_param_decl>();
  std::string name_, grad_sum_group_, tie_, unit_, stack_;
  std::vector<int64_t> shape_, padded_;
  std::vector<Cut> cuts_;
  std::vector<Block> blocks_;
  std::vector<std::string> former_names_;
  std::vector<slw_cut> cut_rows_;
  std::vector<slw_block> block_rows_;
  std::vector<const slw_cut*> cut_pointers_;
  std::vector<const slw_block*> block_pointers_;
  std::vector<const char*> former_rows_;
};

// What declare() fills. Borrowed for the call.
class ParamSink {
 public:
  explicit ParamSink(slw_param_sink* sink) : sink_(sink) { check_struct(sink); }
  // Returns the parameter's index within the stage.
  int32_t add(Param& param) { return add(param.decl()); }
  int32_t add(Param&& param) { return add(param.decl()); }
  int32_t add(const slw_param_decl& decl) {
    int32_t index = -1;
    call([&](slw_error* e) { return sink_->add(sink_, &decl, &index, e); });
    return index;
  }
  // A metric that this stage deposits: SLW_METRIC_*, combined over `group`.
  void metric(const char* name, int32_t length, int32_t reduce, const char* group) {
    call([&](slw_error* e) { return sink_->metric(sink_, name, length, reduce, group, e); });
  }

 private:
  slw_param_sink* sink_;
};

SLW_SDK_END
