/* Wrong: init reports an error. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

static slw_status init(const slw_host* host, slw_error* error) {
  (void)host;
  return toy_fail(error, SLW_IO, "the toy needs /dev/toy, which is not there; plug the toy in");
}

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.init_fails", kComponents), .init = init};
