/* Wrong: built for a LibTorch that nobody has. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

const char slw_plugin_requires_v0[] = "{\"libtorch\": \"1.0.0+none\"}";
const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.other_libtorch", kComponents)};
