/* Wrong: a component of a kind that no host knows. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = {.struct_size = SLW_SIZE_TO(slw_component, vtable),
                                   .kind = "slw.teapot/1",
                                   .name = "toy",
                                   .summary = "Short and stout.",
                                   .vtable = &kVtable};
static const slw_component* const kComponents[] = {&kToy};

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.unknown_kind", kComponents)};
