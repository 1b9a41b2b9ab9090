/* Wrong: exports the entry symbol of the next major of the ABI only. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

extern SLW_EXPORT const slw_plugin slw_plugin_v1;
const slw_plugin slw_plugin_v1 = {.struct_size = SLW_SIZE_TO(slw_plugin, deinit),
                                  .abi_major = 1,
                                  .num_components = 1,
                                  .components = kComponents,
                                  .id = "org.slipway.tests.next_major",
                                  .version = "0.1.0",
                                  .vendor = "tests"};
