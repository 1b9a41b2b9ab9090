// A tokenizer instance. Any thread, once made.
#pragma once

#include <slipway/tokenizer.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin_host/host.h"
#include "core/plugin_host/registry.h"

namespace slipway {

class HostTokenizer {
 public:
  HostTokenizer(const Component& component, const Host& host, const std::string& config_json);
  ~HostTokenizer();
  HostTokenizer(const HostTokenizer&) = delete;
  HostTokenizer& operator=(const HostTokenizer&) = delete;

  slw_tokenizer_info info() const;
  std::vector<int64_t> encode(std::string_view text) const;
  // Special ids give nothing. Throws PluginError for an id outside the vocabulary.
  std::string decode(std::span<const int64_t> ids) const;

 private:
  const slw_tokenizer_vtable* table_;
  CallSite site_;
  slw_tokenizer* tokenizer_ = nullptr;
};

}  // namespace slipway
