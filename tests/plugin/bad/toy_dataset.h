/* A minimal correct dataset, "toy": the toys in this folder take it and break one thing. A sample is `length` bytes,
 * all equal to the low byte of its index.
 */
#ifndef TESTS_PLUGIN_BAD_TOY_DATASET_H_
#define TESTS_PLUGIN_BAD_TOY_DATASET_H_

#include <slipway/dataset.h>
#include <stdlib.h>
#include <string.h>

struct slw_dataset {
  int64_t length, size;
};

static inline slw_status toy_fail(slw_error* error, slw_status status, const char* message) {
  if (!SLW_HAS(error, slw_error, needed)) return status;
  error->code = status;
  error->needed = (uint32_t)strlen(message) + 1;
  if (error->message != NULL && error->capacity > 0) {
    strncpy(error->message, message, error->capacity - 1);
    error->message[error->capacity - 1] = '\0';
  }
  return status;
}

static inline slw_status toy_create(const slw_host* host, const char* config_json, const slw_dataset_args* args,
                                    slw_dataset** out, slw_error* error) {
  (void)host;
  (void)config_json;
  *out = (slw_dataset*)calloc(1, sizeof **out);
  if (*out == NULL) return toy_fail(error, SLW_OUT_OF_MEMORY, "toy: out of host memory");
  (*out)->length = args->seq_length;
  (*out)->size = -1;
  return SLW_OK;
}

static inline void toy_destroy(slw_dataset* self) { free(self); }

static inline slw_status toy_info(slw_dataset* self, slw_dataset_info* out, slw_error* error) {
  (void)error;
  out->size = self->size;
  out->vocab_size = 256;
  out->eod_id = -1;
  out->tokens_per_epoch = self->size < 0 ? 0 : self->size * self->length;
  return SLW_OK;
}

static inline slw_status toy_fields(slw_dataset* self, slw_field_sink* sink, slw_error* error) {
  slw_field field = {0};
  field.struct_size = SLW_SIZE_TO(slw_field, seq_dim2_plus_1);
  field.name = "bytes";
  field.dtype.code = SLW_CODE_UINT;
  field.dtype.bits = 8;
  field.dtype.lanes = 1;
  field.ndim = 1;
  field.shape = &self->length;
  return sink->add(sink, &field, error);
}

static inline slw_status toy_build(slw_dataset* self, const slw_build_args* args, slw_error* error) {
  (void)error;
  self->size = args->num_samples;
  return SLW_OK;
}

static inline slw_status toy_get(slw_dataset* self, const slw_get_args* args, slw_error* error) {
  for (int64_t i = 0; i < args->n; ++i) {
    if (args->indices[i] < 0 || args->indices[i] >= self->size) {
      return toy_fail(error, SLW_INVALID_ARGUMENT, "toy: a sample is out of range");
    }
    if (args->outs[0] == NULL) continue;
    char* data = (char*)args->outs[0]->data + args->outs[0]->byte_offset;
    memset(data + i * self->length, (int)(args->indices[i] & 0xFF), (size_t)self->length);
  }
  return SLW_OK;
}

#define TOY_VTABLE                                                                                                  \
  {                                                                                                                 \
    .struct_size = SLW_SIZE_TO(slw_dataset_vtable, fingerprint), .flags = SLW_DS_THREAD_SAFE, .create = toy_create, \
    .destroy = toy_destroy, .info = toy_info, .fields = toy_fields, .build = toy_build, .get = toy_get              \
  }
#define TOY_COMPONENT(vtable_pointer)                                                           \
  {                                                                                             \
    .struct_size = SLW_SIZE_TO(slw_component, vtable), .kind = SLW_KIND_DATASET, .name = "toy", \
    .summary = "A minimal dataset.", .vtable = (vtable_pointer)                                 \
  }
#define TOY_PLUGIN(id_text, component_list)                                                                \
  .struct_size = SLW_SIZE_TO(slw_plugin, deinit), .abi_major = SLW_ABI_MAJOR, .abi_minor = SLW_ABI_MINOR,  \
  .min_host_minor = SLW_ABI_MINOR, .num_components = sizeof(component_list) / sizeof((component_list)[0]), \
  .components = (component_list), .id = (id_text), .version = "0.1.0", .vendor = "tests"

#endif /* TESTS_PLUGIN_BAD_TOY_DATASET_H_ */
