/* Wrong: a required slot of the v-table, get, is NULL. */
#include "tests/plugin/bad/toy_dataset.h"

static const slw_dataset_vtable kVtable = {.struct_size = SLW_SIZE_TO(slw_dataset_vtable, fingerprint),
                                           .create = toy_create,
                                           .destroy = toy_destroy,
                                           .info = toy_info,
                                           .fields = toy_fields,
                                           .build = toy_build};
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component* const kComponents[] = {&kToy};

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.null_slot", kComponents)};
