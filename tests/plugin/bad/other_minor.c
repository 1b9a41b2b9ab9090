/* Wrong: built with another minor of the ABI. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

const slw_plugin slw_plugin_v0 = {.struct_size = SLW_SIZE_TO(slw_plugin, deinit),
                                  .abi_major = SLW_ABI_MAJOR,
                                  .abi_minor = SLW_ABI_MINOR + 1,
                                  .min_host_minor = SLW_ABI_MINOR + 1,
                                  .num_components = 1,
                                  .components = kComponents,
                                  .id = "org.slipway.tests.other_minor",
                                  .version = "0.1.0",
                                  .vendor = "tests"};
