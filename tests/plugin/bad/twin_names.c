/* Wrong: two components of one kind have one name. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component kTwin = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy, &kTwin};

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.twin_names", kComponents)};
