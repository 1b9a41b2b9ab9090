/* Dataset "copy_task" in plain C: the second half of a sample repeats its first half, which is random. A model has to
 * learn to look back; a bigram model cannot. README.md explains the calls one by one.
 */
#include <slipway/dataset.h>
#include <slipway/json.h>
#include <slipway/philox.h>
#include <stdarg.h>
#include <stdio.h>

struct slw_dataset {
  int64_t seq_length, vocab_size;
  int64_t size; /* -1 before build */
  uint64_t seed, key;
};

/* ---- errors ---------------------------------------------------------------------------------------------------- */

/* Fills the caller's error, which may be NULL, and returns `status`. */
static slw_status fail(slw_error* error, slw_status status, const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!SLW_HAS(error, slw_error, needed)) return status;
  error->code = status;
  error->needed = (uint32_t)(length < 0 ? 1 : length + 1);
  if (error->message != NULL && error->capacity > 0) snprintf(error->message, error->capacity, "%s", text);
  return status;
}

/* Can `given` be read as the struct we know? It must reach our last field, use no flag that has to be understood, and
 * hold nothing but zeros beyond. */
static int is_readable(const void* given, uint32_t struct_size, uint32_t known_size, uint32_t flags) {
  if (struct_size < known_size || (flags & 0xFFFFu) != 0) return 0;
  for (uint32_t i = known_size; i < struct_size; ++i) {
    if (((const unsigned char*)given)[i] != 0) return 0;
  }
  return 1;
}
#define IS_READABLE(p, T, last) ((p) != NULL && is_readable((p), (p)->struct_size, SLW_SIZE_TO(T, last), (p)->flags))

/* ---- life ------------------------------------------------------------------------------------------------------ */

static slw_status copy_create(const slw_host* host, const char* config_json, const slw_dataset_args* args,
                              slw_dataset** out, slw_error* error) {
  int64_t vocab_size;
  *out = NULL;
  if (!IS_READABLE(args, slw_dataset_args, cache_dir)) {
    return fail(error, SLW_UNSUPPORTED, "copy_task: slw_dataset_args has something unknown to this plugin");
  }
  if (!slw_json_int(config_json, "vocab_size", &vocab_size) || vocab_size < 1 || vocab_size > UINT32_MAX) {
    return fail(error, SLW_INVALID_ARGUMENT,
                "copy_task: option 'vocab_size' has to be an integer from 1 to 4294967295");
  }
  if (args->seq_length < 2 || args->seq_length % 2 != 0) {
    return fail(error, SLW_INVALID_ARGUMENT, "copy_task: seq_length is %lld, it has to be even and at least 2",
                (long long)args->seq_length);
  }
  slw_dataset* self = (slw_dataset*)calloc(1, sizeof *self);
  if (self == NULL) return fail(error, SLW_OUT_OF_MEMORY, "copy_task: out of host memory");
  self->seq_length = args->seq_length;
  self->vocab_size = vocab_size;
  self->seed = args->seed;
  self->size = -1;
  *out = self;
  host->log(host, SLW_LOG_DEBUG, "copy_task: created");
  return SLW_OK;
}

static void copy_destroy(slw_dataset* self) { free(self); }

static slw_status copy_info(slw_dataset* self, slw_dataset_info* out, slw_error* error) {
  if (!SLW_HAS(out, slw_dataset_info, tokens_per_epoch)) {
    return fail(error, SLW_UNSUPPORTED, "copy_task: slw_dataset_info is too small");
  }
  out->flags = 0;
  out->size = self->size;
  out->vocab_size = self->vocab_size;
  out->eod_id = -1;
  out->tokens_per_epoch = self->size < 0 ? 0 : self->size * self->seq_length;
  return SLW_OK;
}

/* ---- fields ---------------------------------------------------------------------------------------------------- */

enum { TOKENS = 0, LABELS = 1, LOSS_MASK = 2, POSITION_IDS = 3, NUM_FIELDS = 4 };
static const slw_dtype kInt64 = {SLW_CODE_INT, 64, 1};
static const slw_dtype kFloat32 = {SLW_CODE_FLOAT, 32, 1};

static slw_status copy_fields(slw_dataset* self, slw_field_sink* sink, slw_error* error) {
  static const char* const kNames[NUM_FIELDS] = {"tokens", "labels", "loss_mask", "position_ids"};
  slw_status status = SLW_OK;
  for (int i = 0; i < NUM_FIELDS && status == SLW_OK; ++i) {
    slw_field field = {0};
    field.struct_size = SLW_SIZE_TO(slw_field, seq_dim2_plus_1);
    field.name = kNames[i];
    field.dtype = i == LOSS_MASK ? kFloat32 : kInt64;
    field.ndim = 1;
    field.shape = &self->seq_length;
    field.seq_dim_plus_1 = 1;
    status = sink->add(sink, &field, error);
  }
  return status;
}

/* ---- samples --------------------------------------------------------------------------------------------------- */

static slw_status copy_build(slw_dataset* self, const slw_build_args* args, slw_error* error) {
  static const char* const kSplits[] = {"train", "valid", "test"};
  if (!IS_READABLE(args, slw_build_args, num_samples) || args->split < 0 || args->split > SLW_SPLIT_TEST) {
    return fail(error, SLW_UNSUPPORTED, "copy_task: slw_build_args has something unknown to this plugin");
  }
  self->key = slw_philox_key(self->seed, "copy_task", kSplits[args->split]);
  self->size = args->num_samples < 0 ? 0 : args->num_samples;
  return SLW_OK;
}

/* Token t of a sample: a pure function, so any thread may compute any sample. */
static int64_t token_at(const slw_dataset* self, int64_t sample, int64_t t) {
  const uint64_t at = (uint64_t)(t % (self->seq_length / 2));
  const slw_philox_block block = slw_philox(self->key, (uint32_t)(at / 4), (uint32_t)(at / 4 >> 32), (uint32_t)sample,
                                            (uint32_t)((uint64_t)sample >> 32));
  return (int64_t)(((uint64_t)block.lane[at % 4] * (uint64_t)self->vocab_size) >> 32);
}

/* The host's buffer of a field; NULL: not wanted. */
static void* buffer(const slw_get_args* args, int field) {
  const slw_tensor* out = args->outs[field];
  return out == NULL ? NULL : (char*)out->data + out->byte_offset;
}

static void put_sample(const slw_dataset* self, const slw_get_args* args, int64_t row) {
  int64_t* tokens = (int64_t*)buffer(args, TOKENS);
  int64_t* labels = (int64_t*)buffer(args, LABELS);
  float* loss_mask = (float*)buffer(args, LOSS_MASK);
  int64_t* position_ids = (int64_t*)buffer(args, POSITION_IDS);
  for (int64_t t = 0, at = row * self->seq_length; t < self->seq_length; ++t, ++at) {
    if (tokens != NULL) tokens[at] = token_at(self, args->indices[row], t);
    if (labels != NULL) labels[at] = token_at(self, args->indices[row], t + 1);
    /* Only the second half can be known, and its last label is the first token again. */
    if (loss_mask != NULL) loss_mask[at] = t >= self->seq_length / 2 - 1 ? 1.0f : 0.0f;
    if (position_ids != NULL) position_ids[at] = t;
  }
}

static slw_status check_out(const slw_dataset* self, const slw_get_args* args, int field, slw_error* error) {
  const slw_tensor* out = args->outs[field];
  const slw_dtype dtype = field == LOSS_MASK ? kFloat32 : kInt64;
  if (out == NULL) return SLW_OK;
  if (out->dtype.code == dtype.code && out->dtype.bits == dtype.bits && out->ndim == 2 && out->shape[0] == args->n &&
      out->shape[1] == self->seq_length) {
    return SLW_OK;
  }
  return fail(error, SLW_INVALID_ARGUMENT, "copy_task: the buffer of field %d is not as declared", field);
}

static slw_status copy_get(slw_dataset* self, const slw_get_args* args, slw_error* error) {
  if (!IS_READABLE(args, slw_get_args, dims) || args->num_fields != NUM_FIELDS) {
    return fail(error, SLW_UNSUPPORTED, "copy_task: slw_get_args has something unknown to this plugin");
  }
  if (self->size < 0) return fail(error, SLW_PRECONDITION, "copy_task: get before build");
  for (int field = 0; field < NUM_FIELDS; ++field) {
    const slw_status status = check_out(self, args, field, error);
    if (status != SLW_OK) return status;
  }
  for (int64_t row = 0; row < args->n; ++row) {
    if (args->indices[row] < 0 || args->indices[row] >= self->size) {
      return fail(error, SLW_INVALID_ARGUMENT, "copy_task: sample %lld is out of range [0, %lld)",
                  (long long)args->indices[row], (long long)self->size);
    }
    put_sample(self, args, row);
  }
  return SLW_OK;
}

/* ---- what the plugin shows -------------------------------------------------------------------------------------- */

static const slw_option kVocabSize = {
    .struct_size = SLW_SIZE_TO(slw_option, aliases),
    .type = SLW_OPT_INT,
    .name = "vocab_size",
    .default_json = "64",
    .help = "Number of token ids.",
    .min_json = "1",
    .max_json = "4294967295",
};
static const slw_option* const kOptions[] = {&kVocabSize};

static const slw_dataset_vtable kVtable = {
    .struct_size = SLW_SIZE_TO(slw_dataset_vtable, fingerprint),
    .flags = SLW_DS_THREAD_SAFE | SLW_DS_ORDERED,
    .create = copy_create,
    .destroy = copy_destroy,
    .info = copy_info,
    .fields = copy_fields,
    .build = copy_build,
    .get = copy_get,
};
static const slw_component kCopyTask = {
    .struct_size = SLW_SIZE_TO(slw_component, vtable),
    .kind = SLW_KIND_DATASET,
    .name = "copy_task",
    .summary = "The second half of a sample repeats its first half.",
    .options = kOptions,
    .num_options = 1,
    .vtable = &kVtable,
};
static const slw_component* const kComponents[] = {&kCopyTask};

const slw_plugin slw_plugin_v0 = {
    .struct_size = SLW_SIZE_TO(slw_plugin, deinit),
    .abi_major = SLW_ABI_MAJOR,
    .abi_minor = SLW_ABI_MINOR,
    .min_host_minor = SLW_ABI_MINOR,
    .num_components = 1,
    .components = kComponents,
    .id = "org.slipway.examples.copy_task",
    .version = "0.1.0",
    .vendor = "Slipway",
};
