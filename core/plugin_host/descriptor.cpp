#include <slipway/dataset.h>
#include <slipway/dp.h>
#include <slipway/tokenizer.h>

#include <cstring>
#include <set>

#include "core/base/error.h"
#include "core/plugin_host/library.h"

namespace slipway {
namespace {

// A required slot of a v-table: its place and its name.
struct Slot {
  size_t offset;
  const char* name;
};
struct Kind {
  const char* id;
  std::vector<Slot> required;
};

#define SLW_SLOT(table, name) \
  Slot { offsetof(table, name), #name }

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {SLW_KIND_MODEL,
       {SLW_SLOT(slw_model_vtable, create), SLW_SLOT(slw_model_vtable, destroy), SLW_SLOT(slw_model_vtable, describe),
        SLW_SLOT(slw_model_vtable, declare), SLW_SLOT(slw_model_vtable, io_spec), SLW_SLOT(slw_model_vtable, bind),
        SLW_SLOT(slw_model_vtable, forward), SLW_SLOT(slw_model_vtable, backward),
        SLW_SLOT(slw_model_vtable, discard)}},
      {SLW_KIND_DATASET,
       {SLW_SLOT(slw_dataset_vtable, create), SLW_SLOT(slw_dataset_vtable, destroy), SLW_SLOT(slw_dataset_vtable, info),
        SLW_SLOT(slw_dataset_vtable, fields), SLW_SLOT(slw_dataset_vtable, build), SLW_SLOT(slw_dataset_vtable, get)}},
      {SLW_KIND_OPTIMIZER,
       {SLW_SLOT(slw_optimizer_vtable, create), SLW_SLOT(slw_optimizer_vtable, destroy),
        SLW_SLOT(slw_optimizer_vtable, declare), SLW_SLOT(slw_optimizer_vtable, step)}},
      {SLW_KIND_DP,
       {SLW_SLOT(slw_dp_vtable, create), SLW_SLOT(slw_dp_vtable, destroy), SLW_SLOT(slw_dp_vtable, plan),
        SLW_SLOT(slw_dp_vtable, attach), SLW_SLOT(slw_dp_vtable, step_begin), SLW_SLOT(slw_dp_vtable, grad_ready),
        SLW_SLOT(slw_dp_vtable, grad_reduce_finish)}},
      {SLW_KIND_TOKENIZER,
       {SLW_SLOT(slw_tokenizer_vtable, create), SLW_SLOT(slw_tokenizer_vtable, destroy),
        SLW_SLOT(slw_tokenizer_vtable, info), SLW_SLOT(slw_tokenizer_vtable, encode),
        SLW_SLOT(slw_tokenizer_vtable, decode)}},
  };
  return all;
}

#undef SLW_SLOT

void check_component(const std::string& who, const slw_component& component) {
  for (const Kind& kind : kinds()) {
    if (std::strcmp(kind.id, component.kind) != 0) continue;
    if (component.vtable == nullptr) throw PluginError(who + " has no v-table");
    const auto* table = static_cast<const unsigned char*>(component.vtable);
    uint32_t size = 0;
    std::memcpy(&size, table, sizeof(size));
    for (const Slot& slot : kind.required) {
      const void* function = nullptr;
      if (slot.offset + sizeof(function) <= size)
        std::memcpy(static_cast<void*>(&function), table + slot.offset, sizeof(function));
      if (function == nullptr) throw PluginError(who + " lacks the function '" + slot.name + "', which is required");
    }
    return;
  }
  throw PluginError(who + " is of kind '" + component.kind +
                    "', which this slipway does not know; known are slw.model/1, slw.dataset/1, slw.optimizer/1, "
                    "slw.dp/1, slw.tokenizer/1");
}

}  // namespace

void check_descriptor(const std::string& path, const slw_plugin& plugin) {
  if (plugin.id == nullptr || plugin.version == nullptr)
    throw PluginError(path + ": the plugin has no id or no version");
  if (plugin.num_components == 0 || plugin.components == nullptr) {
    throw PluginError(path + ": plugin " + plugin.id + " has no components");
  }
  std::set<std::string> seen;
  for (uint32_t i = 0; i < plugin.num_components; ++i) {
    const slw_component* component = plugin.components[i];
    if (component == nullptr || component->kind == nullptr || component->name == nullptr) {
      throw PluginError(path + ": component " + std::to_string(i) + " of plugin " + plugin.id + " has no kind or name");
    }
    const std::string who = path + ": component '" + component->name + "'";
    if (!seen.insert(std::string(component->kind) + " " + component->name).second) {
      throw PluginError(who + " of kind " + component->kind + " stands twice");
    }
    check_component(who, *component);
  }
}

}  // namespace slipway
