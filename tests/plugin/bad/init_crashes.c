/* Wrong: the process dies in init. */
#include "tests/plugin/bad/toy_dataset.h"

#include <signal.h>

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

static slw_status init(const slw_host* host, slw_error* error) {
  (void)host;
  (void)error;
  raise(SIGSEGV);
  return SLW_OK;
}

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.init_crashes", kComponents), .init = init};
