/* Wrong: a static constructor of the file crashes, before the host has seen anything of the plugin. */
#include "tests/plugin/bad/toy_dataset.h"

#include <signal.h>

__attribute__((constructor)) static void crash_at_load(void) { raise(SIGSEGV); }

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.load_crashes", kComponents)};
