/* Nothing is wrong with this one: every type of option, an init and a deinit. */
#include "tests/plugin/bad/toy_dataset.h"

static const char* const kModes[] = {"plain", "fancy", NULL};
static const char* const kOtherNames[] = {"number-of-things", "no-things=0", NULL};
#define OPTION(kind, name_text, default_text)                                             \
  {                                                                                       \
    .struct_size = SLW_SIZE_TO(slw_option, aliases), .type = (kind), .name = (name_text), \
    .default_json = (default_text), .help = "An option of the toy."                       \
  }
static const slw_option kFlag = OPTION(SLW_OPT_BOOL, "flag", "false");
static const slw_option kRatio = OPTION(SLW_OPT_FLOAT, "ratio", "0.5");
static const slw_option kList = OPTION(SLW_OPT_JSON, "list", "[1, 2]");
static const slw_option kUnset = OPTION(SLW_OPT_INT, "unset", "null");
static const slw_option kCount = {.struct_size = SLW_SIZE_TO(slw_option, aliases),
                                  .type = SLW_OPT_INT,
                                  .name = "num_things",
                                  .default_json = "3",
                                  .help = "How many things.",
                                  .min_json = "0",
                                  .max_json = "10",
                                  .aliases = kOtherNames};
static const slw_option kMode = {.struct_size = SLW_SIZE_TO(slw_option, aliases),
                                 .type = SLW_OPT_STRING,
                                 .name = "mode",
                                 .default_json = "\"plain\"",
                                 .help = "Which way.",
                                 .choices = kModes};
static const slw_option kFile = {.struct_size = SLW_SIZE_TO(slw_option, aliases),
                                 .flags = SLW_OPTION_PATH,
                                 .type = SLW_OPT_STRING,
                                 .name = "file",
                                 .help = "A path that the user has to give."};
static const slw_option* const kOptions[] = {&kFlag, &kRatio, &kList, &kUnset, &kCount, &kMode, &kFile};

static const slw_dataset_vtable kVtable = TOY_VTABLE;
static const slw_component kToy = TOY_COMPONENT(&kVtable);
static const slw_component kToyWithOptions = {.struct_size = SLW_SIZE_TO(slw_component, vtable),
                                              .kind = SLW_KIND_DATASET,
                                              .name = "toy_with_options",
                                              .summary = "A minimal dataset with every type of option.",
                                              .options = kOptions,
                                              .num_options = sizeof kOptions / sizeof kOptions[0],
                                              .state_version = 1,
                                              .vtable = &kVtable};
static const slw_component* const kComponents[] = {&kToy, &kToyWithOptions};

static slw_status init(const slw_host* host, slw_error* error) {
  (void)error;
  host->log(host, SLW_LOG_INFO, "good toy: init");
  return SLW_OK;
}
static void deinit(void) {}

const slw_plugin slw_plugin_v0 = {TOY_PLUGIN("org.slipway.tests.good", kComponents), .init = init, .deinit = deinit};
