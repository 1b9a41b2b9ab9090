/* Wrong: a static constructor of the file ends the process, and calls that success. */
#include "tests/plugin/bad/toy_dataset.h"

#include <unistd.h>

__attribute__((constructor)) static void exit_at_load(void) { _exit(0); }

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.load_exits", kComponents)};
