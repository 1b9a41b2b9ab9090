/* Not wrong, but it tells on the host: its static constructor makes the file that SLIPWAY_TOY_TRACE names. */
#include "tests/plugin/bad/toy_dataset.h"

#include <stdio.h>

__attribute__((constructor)) static void leave_trace(void) {
  const char* const path = getenv("SLIPWAY_TOY_TRACE");
  FILE* const file = path == NULL ? NULL : fopen(path, "w");
  if (file != NULL) fclose(file);
}

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.leaves_a_trace", kComponents)};
