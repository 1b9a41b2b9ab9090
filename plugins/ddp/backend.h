// What the backends of this folder share: a plan, then the memory for it, then steps. Thread tags as in slipway/dp.h.
#pragma once

#include <memory>
#include <optional>

#include "plugins/ddp/reducer.h"

namespace ddp {

class Backend {
 public:
  Backend(slw::Host host, LayoutOptions layout, ReduceOptions reduction)
      : host_(host), layout_options_(std::move(layout)), reduce_options_(reduction) {}

  void plan(slw::Items<const slw_dp_param> params, slw::PlanSink& sink);
  void step_begin(const slw_stream*) { attached().arm(); }
  void grad_ready(const slw_ready_args& args) { attached().ready(args); }
  void grad_reduce_finish(const slw_stream* stream) { attached().finish(stream); }

 protected:
  void attach_gradients(const slw_attach_args& args);
  const slw::Host& host() const { return host_; }
  // REQUIRES: attach_gradients() returned.
  const Layout& layout() const { return *layout_; }

 private:
  Reducer& attached() const;

  slw::Host host_;
  LayoutOptions layout_options_;
  ReduceOptions reduce_options_;
  std::optional<Layout> layout_;
  std::unique_ptr<Reducer> reducer_;
};

}  // namespace ddp
