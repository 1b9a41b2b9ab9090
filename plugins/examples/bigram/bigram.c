/* Model "bigram" in plain C, without LibTorch: the logits of the next token are a row of one table, chosen by the token
 * before it. Forward is a cross entropy, backward is written by hand. README.md explains the calls one by one.
 *
 *   W [vocab, vocab]     loss = sum over tokens of mask * (logsumexp(W[x]) - W[x][y])
 *   dW[x][c] += g * mask * (softmax(W[x])[c] - (c == y))      g = d total / d loss
 */
#include <math.h>
#include <slipway/json.h>
#include <slipway/model.h>
#include <slipway/services.h>
#include <stdarg.h>
#include <stdio.h>

/* What a slot keeps from forward to backward. The batch tensors stay valid for that long, so pointers are enough. */
typedef struct kept {
  struct kept* next;
  int32_t slot;
  int64_t num_tokens, capacity;
  const int64_t* tokens;
  const int64_t* labels;
  const float* loss_mask;
  double* log_sums; /* of each token's logits */
  double* losses;   /* of each token; from forward to its end only */
} kept;

struct slw_model {
  const slw_host* host;
  const slw_threads* threads; /* NULL: this host has none */
  int64_t vocab_size, padded_vocab_size;
  double init_std;
  int32_t weight_index;
  float* weight;   /* [padded, padded], owned by the host, valid from bind on */
  float* gradient; /* the same shape */
  kept* slots;
};

/* ---- errors ---------------------------------------------------------------------------------------------------- */

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

/* It must reach our last field, use no flag outside `known_flags` that has to be understood, and be zero beyond. */
static int is_readable(const void* given, uint32_t known_size, uint32_t known_flags) {
  const unsigned char* bytes = (const unsigned char*)given;
  uint32_t head[2]; /* struct_size, flags: so begins every args struct */
  if (given == NULL) return 0;
  memcpy(head, given, sizeof head);
  if (head[0] < known_size || (head[1] & 0xFFFFu & ~known_flags) != 0) return 0;
  for (uint32_t i = known_size; i < head[0]; ++i) {
    if (bytes[i] != 0) return 0;
  }
  return 1;
}
static slw_status unreadable(slw_error* error, const char* name) {
  return fail(error, SLW_UNSUPPORTED, "bigram: %s has something unknown to this plugin", name);
}

/* ---- offline: who we are, what we need -------------------------------------------------------------------------- */

static slw_status check_run(const slw_run_info* run, slw_error* error) {
  if (run->vocab_size < 1 || run->padded_vocab_size < run->vocab_size) {
    return fail(error, SLW_INVALID_ARGUMENT, "bigram: the vocabulary is %lld, padded to %lld",
                (long long)run->vocab_size, (long long)run->padded_vocab_size);
  }
  if (run->param_dtype.code != SLW_CODE_FLOAT || run->param_dtype.bits != 32) {
    return fail(error, SLW_UNSUPPORTED, "bigram: works in fp32 only; set the precision to fp32");
  }
  return SLW_OK;
}

static slw_status bigram_create(const slw_host* host, const char* config_json, const slw_run_info* run, slw_model** out,
                                slw_error* error) {
  double init_std;
  *out = NULL;
  if (!is_readable(run, SLW_SIZE_TO(slw_run_info, run_json), 0)) return unreadable(error, "slw_run_info");
  if (!slw_json_double(config_json, "init_std", &init_std) || init_std < 0) {
    return fail(error, SLW_INVALID_ARGUMENT, "bigram: option 'init_std' has to be a number of at least 0");
  }
  const slw_status status = check_run(run, error);
  if (status != SLW_OK) return status;
  slw_model* self = (slw_model*)calloc(1, sizeof *self);
  if (self == NULL) return fail(error, SLW_OUT_OF_MEMORY, "bigram: out of host memory");
  self->host = host;
  self->threads = (const slw_threads*)host->get_service(host, SLW_SERVICE_THREADS);
  self->vocab_size = run->vocab_size;
  self->padded_vocab_size = run->padded_vocab_size;
  self->init_std = init_std;
  *out = self;
  return SLW_OK;
}

static void free_kept(kept* entry) {
  free(entry->log_sums);
  free(entry->losses);
  free(entry);
}

static void bigram_destroy(slw_model* self) {
  while (self->slots != NULL) {
    kept* entry = self->slots;
    self->slots = entry->next;
    free_kept(entry);
  }
  free(self);
}

/* No tp, pp, ep, bf16 or CUDA: those bits are missing, so the host refuses such a layout. Tokens do not see each other,
 * so any cut of the sequence and any length is right. */
static slw_status bigram_describe(slw_model* self, slw_model_info* out, slw_error* error) {
  static const slw_loss_decl kLoss = {.struct_size = SLW_SIZE_TO(slw_loss_decl, weight),
                                      .name = "lm loss",
                                      .norm = SLW_NORM_FIELD,
                                      .norm_field = "loss_mask"};
  static const slw_loss_decl* const kLosses[] = {&kLoss};
  (void)self;
  if (!SLW_HAS(out, slw_model_info, losses)) return unreadable(error, "slw_model_info");
  out->flags = SLW_MODEL_CP_ZIGZAG | SLW_MODEL_VAR_SEQ | SLW_MODEL_LOGITS | SLW_MODEL_INVARIANT_RNG;
  out->num_layers = 1;
  out->min_vocab_size = 0;
  out->max_seq_length = 0;
  out->num_losses = 1;
  out->table_version = 1;
  out->losses = kLosses;
  return SLW_OK;
}

/* Rows and columns beyond the vocabulary are padding: zero, never drawn, decayed or stored. */
static slw_status bigram_declare(slw_model* self, const slw_stage* stage, slw_param_sink* sink, slw_error* error) {
  const int64_t shape[2] = {self->vocab_size, self->vocab_size};
  const int64_t padded[2] = {self->padded_vocab_size, self->padded_vocab_size};
  if (!stage->pre_process || !stage->post_process) {
    return fail(error, SLW_UNSUPPORTED, "bigram: cannot be cut into pipeline stages");
  }
  slw_param_decl decl = {0}; /* a zero field is its plain default */
  decl.struct_size = SLW_SIZE_TO(slw_param_decl, former_names);
  decl.flags = SLW_PARAM_EMBEDDING;
  decl.name = "bigram.weight";
  decl.ndim = 2;
  decl.global_shape = shape;
  decl.padded_shape = padded;
  decl.init = SLW_INIT_NORMAL;
  decl.init_b = self->init_std;
  return sink->add(sink, &decl, &self->weight_index, error);
}

static slw_status bigram_io_spec(slw_model* self, const slw_io_args* args, slw_io_sink* sink, slw_error* error) {
  const slw_dtype int64 = {SLW_CODE_INT, 64, 1}, float32 = {SLW_CODE_FLOAT, 32, 1};
  (void)self;
  if (!is_readable(args, SLW_SIZE_TO(slw_io_args, seq_length), 0)) return unreadable(error, "slw_io_args");
  slw_status status = sink->batch_field(sink, "tokens", int64, 1, error);
  if (status == SLW_OK) status = sink->batch_field(sink, "labels", int64, 1, error);
  if (status == SLW_OK) status = sink->batch_field(sink, "loss_mask", float32, 1, error);
  return status;
}

/* Per token and vocabulary entry: maximum, subtract, exp, add forward; subtract, exp, scale, add backward. */
static slw_status bigram_cost(slw_model* self, const slw_io_args* args, slw_cost* out, slw_cost_sink* sink,
                              slw_error* error) {
  const double tokens = (double)args->batch_size * (double)args->seq_length;
  (void)sink;
  if (!SLW_HAS(out, slw_cost, workspace_bytes)) return unreadable(error, "slw_cost");
  out->flops_forward = 4.0 * tokens * (double)self->vocab_size;
  out->flops_backward = out->flops_forward;
  out->saved_bytes = (int64_t)(tokens * sizeof(double));
  out->workspace_bytes = (int64_t)(tokens * sizeof(double));
  return SLW_OK;
}

/* ---- bind ------------------------------------------------------------------------------------------------------- */

static int is_table(const slw_model* self, const slw_tensor* t) {
  return t->device.type == SLW_DEVICE_CPU && t->dtype.code == SLW_CODE_FLOAT && t->dtype.bits == 32 && t->ndim == 2 &&
         t->shape[0] == self->padded_vocab_size && t->shape[1] == self->padded_vocab_size &&
         t->strides[0] == self->padded_vocab_size && t->strides[1] == 1;
}

static slw_status bigram_bind(slw_model* self, const slw_bind_args* args, slw_error* error) {
  if (!is_readable(args, SLW_SIZE_TO(slw_bind_args, params), 0)) return unreadable(error, "slw_bind_args");
  if (args->num_params != 1)
    return fail(error, SLW_PRECONDITION, "bigram: declared 1 parameter, got %u", args->num_params);
  const slw_param_view* view = args->params[self->weight_index];
  if (!is_table(self, &view->data) || !is_table(self, &view->grad)) {
    return fail(error, SLW_UNSUPPORTED, "bigram: wants parameter and gradient as contiguous fp32 in host memory");
  }
  self->weight = (float*)((char*)view->data.data + view->data.byte_offset);
  self->gradient = (float*)((char*)view->grad.data + view->grad.byte_offset);
  return SLW_OK;
}

/* ---- slots ------------------------------------------------------------------------------------------------------ */

static kept** find_slot(slw_model* self, int32_t slot) {
  kept** at = &self->slots;
  while (*at != NULL && (*at)->slot != slot) at = &(*at)->next;
  return at;
}

static void bigram_discard(slw_model* self, const slw_stage* stage, int32_t slot) {
  kept** at = find_slot(self, slot);
  kept* entry = *at;
  (void)stage;
  if (entry == NULL) return;
  *at = entry->next;
  free_kept(entry);
}

/* The slot's entry with room for `num_tokens`, NULL when there is no memory. */
static kept* take_slot(slw_model* self, int32_t slot, int64_t num_tokens) {
  kept* entry = *find_slot(self, slot);
  if (entry == NULL) {
    entry = (kept*)calloc(1, sizeof *entry);
    if (entry == NULL) return NULL;
    entry->slot = slot;
    entry->next = self->slots;
    self->slots = entry;
  }
  if (entry->capacity < num_tokens) {
    free(entry->log_sums);
    free(entry->losses);
    entry->log_sums = (double*)malloc((size_t)num_tokens * sizeof(double));
    entry->losses = (double*)malloc((size_t)num_tokens * sizeof(double));
    entry->capacity = entry->log_sums != NULL && entry->losses != NULL ? num_tokens : 0;
  }
  entry->num_tokens = num_tokens;
  return entry->capacity < num_tokens ? NULL : entry;
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

/* Runs body over [0, n) on the host's threads, or here. */
static void parallel(const slw_model* self, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
                     void* context) {
  if (SLW_HAS_FN(self->threads, slw_threads, parallel_for)) {
    self->threads->parallel_for(self->host, n, grain, body, context);
  } else if (n > 0) {
    body(context, 0, n);
  }
}

static const void* field(const slw_batch* batch, const char* name, int64_t* num_elements) {
  const slw_tensor* t = batch->get(batch, name);
  if (t == NULL) return NULL;
  *num_elements = 1;
  for (int32_t d = 0; d < t->ndim; ++d) *num_elements *= t->shape[d];
  return (const char*)t->data + t->byte_offset;
}

static slw_status read_batch(const slw_model* self, const slw_batch* batch, kept* entry, slw_error* error) {
  int64_t num_labels = 0, num_masks = 0;
  entry->labels = (const int64_t*)field(batch, "labels", &num_labels);
  entry->loss_mask = (const float*)field(batch, "loss_mask", &num_masks);
  if (entry->labels == NULL || entry->loss_mask == NULL || num_labels != entry->num_tokens ||
      num_masks != entry->num_tokens) {
    return fail(error, SLW_PRECONDITION, "bigram: labels and loss_mask have to be there and as many as the tokens");
  }
  for (int64_t i = 0; i < entry->num_tokens; ++i) {
    const int64_t x = entry->tokens[i], y = entry->labels[i];
    if (x < 0 || x >= self->vocab_size || (entry->loss_mask[i] != 0 && (y < 0 || y >= self->vocab_size))) {
      return fail(error, SLW_INVALID_ARGUMENT,
                  "bigram: token %lld with label %lld is outside of the vocabulary [0, %lld)", (long long)x,
                  (long long)y, (long long)self->vocab_size);
    }
  }
  return SLW_OK;
}

typedef struct pass {
  const slw_model* self;
  const kept* entry;
  double scale; /* backward: d total / d loss */
} pass;

/* log(sum(exp(row))) over the true vocabulary: padding takes no part. */
static double log_sum_exp(const float* row, int64_t n) {
  float largest = row[0];
  double sum = 0;
  for (int64_t c = 1; c < n; ++c) largest = row[c] > largest ? row[c] : largest;
  for (int64_t c = 0; c < n; ++c) sum += expf(row[c] - largest);
  return largest + log(sum);
}

static void forward_tokens(void* context, int64_t begin, int64_t end) {
  const pass* p = (const pass*)context;
  for (int64_t i = begin; i < end; ++i) {
    const float* row = p->self->weight + p->entry->tokens[i] * p->self->padded_vocab_size;
    const float mask = p->entry->loss_mask[i];
    p->entry->log_sums[i] = log_sum_exp(row, p->self->vocab_size);
    p->entry->losses[i] = mask == 0 ? 0 : mask * (p->entry->log_sums[i] - row[p->entry->labels[i]]);
  }
}

static void fill_logits(const slw_model* self, const kept* entry, slw_tensor* logits) {
  float* out = (float*)((char*)logits->data + logits->byte_offset);
  const size_t row_bytes = (size_t)self->vocab_size * sizeof(float);
  for (int64_t i = 0; i < entry->num_tokens; ++i) {
    memcpy(out + i * self->vocab_size, self->weight + entry->tokens[i] * self->padded_vocab_size, row_bytes);
  }
}

/* Token losses are added up in one order, whatever the number of threads was. */
static double total(const kept* entry) {
  double sum = 0;
  for (int64_t i = 0; i < entry->num_tokens; ++i) sum += entry->losses[i];
  return sum;
}

static slw_status bigram_forward(slw_model* self, const slw_forward_args* args, slw_error* error) {
  const uint32_t known = SLW_FWD_TRAIN | SLW_FWD_NO_SAVE | SLW_FWD_RECOMPUTE;
  if (!is_readable(args, SLW_SIZE_TO(slw_forward_args, hooks), known)) return unreadable(error, "slw_forward_args");
  if (self->weight == NULL) return fail(error, SLW_PRECONDITION, "bigram: forward before bind");
  int64_t num_tokens = 0;
  const int64_t* tokens = (const int64_t*)field(args->batch, "tokens", &num_tokens);
  if (tokens == NULL) return fail(error, SLW_PRECONDITION, "bigram: the batch has no field 'tokens'");
  kept* entry = take_slot(self, args->slot, num_tokens);
  if (entry == NULL) return fail(error, SLW_OUT_OF_MEMORY, "bigram: out of host memory");
  entry->tokens = tokens;
  const slw_status status = read_batch(self, args->batch, entry, error);
  if (status != SLW_OK) return status;
  pass p = {self, entry, 0};
  parallel(self, num_tokens, 16, forward_tokens, &p);
  if (args->num_losses > 0 && args->loss_sums[0] != NULL) {
    *(double*)((char*)args->loss_sums[0]->data + args->loss_sums[0]->byte_offset) = total(entry);
  }
  if (args->logits != NULL) fill_logits(self, entry, args->logits);
  if (args->flags & SLW_FWD_NO_SAVE) bigram_discard(self, args->stage, args->slot);
  return SLW_OK;
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* A thread takes columns, not tokens: two tokens may share a row, and each element still gets its terms in one order.
 */
static void backward_columns(void* context, int64_t begin, int64_t end) {
  const pass* p = (const pass*)context;
  const slw_model* self = p->self;
  for (int64_t i = 0; i < p->entry->num_tokens; ++i) {
    const int64_t at = p->entry->tokens[i] * self->padded_vocab_size, label = p->entry->labels[i];
    const double g = p->scale * p->entry->loss_mask[i];
    const float log_sum = (float)p->entry->log_sums[i];
    if (g == 0) continue;
    for (int64_t c = begin; c < end; ++c) self->gradient[at + c] += (float)(g * expf(self->weight[at + c] - log_sum));
    if (label >= begin && label < end) self->gradient[at + label] -= (float)g;
  }
}

static slw_status bigram_backward(slw_model* self, const slw_backward_args* args, slw_error* error) {
  if (!is_readable(args, SLW_SIZE_TO(slw_backward_args, hooks), 0)) return unreadable(error, "slw_backward_args");
  const kept* entry = *find_slot(self, args->slot);
  if (entry == NULL) return fail(error, SLW_PRECONDITION, "bigram: backward without forward in slot %d", args->slot);
  if (args->num_losses != 1) return fail(error, SLW_PRECONDITION, "bigram: declared 1 loss, got %u", args->num_losses);
  const slw_tensor* loss_grad = args->loss_grads[0];
  pass p = {self, entry, *(const double*)((const char*)loss_grad->data + loss_grad->byte_offset)};
  parallel(self, self->vocab_size, 32, backward_columns, &p);
  bigram_discard(self, args->stage, args->slot);
  if (!SLW_HAS_FN(args->hooks, slw_step_hooks, grad_ready)) return SLW_OK;
  return args->hooks->grad_ready(args->hooks, self->weight_index, &args->stream, error);
}

/* ---- what the plugin shows --------------------------------------------------------------------------------------- */

static const slw_option kInitStd = {
    .struct_size = SLW_SIZE_TO(slw_option, aliases),
    .type = SLW_OPT_FLOAT,
    .name = "init_std",
    .default_json = "0.02",
    .help = "Standard deviation of the initial weights.",
    .min_json = "0",
};
static const slw_option* const kOptions[] = {&kInitStd};

static const slw_model_vtable kVtable = {
    .struct_size = SLW_SIZE_TO(slw_model_vtable, step_end),
    .create = bigram_create,
    .destroy = bigram_destroy,
    .describe = bigram_describe,
    .declare = bigram_declare,
    .io_spec = bigram_io_spec,
    .cost = bigram_cost,
    .bind = bigram_bind,
    .forward = bigram_forward,
    .backward = bigram_backward,
    .discard = bigram_discard,
};
static const slw_component kBigram = {
    .struct_size = SLW_SIZE_TO(slw_component, vtable),
    .kind = SLW_KIND_MODEL,
    .name = "bigram",
    .summary = "Next-token logits from a table, in plain C.",
    .options = kOptions,
    .num_options = 1,
    .state_version = 1,
    .vtable = &kVtable,
};
static const slw_component* const kComponents[] = {&kBigram};

const slw_plugin slw_plugin_v0 = {
    .struct_size = SLW_SIZE_TO(slw_plugin, deinit),
    .abi_major = SLW_ABI_MAJOR,
    .abi_minor = SLW_ABI_MINOR,
    .min_host_minor = SLW_ABI_MINOR,
    .num_components = 1,
    .components = kComponents,
    .id = "org.slipway.examples.bigram",
    .version = "0.1.0",
    .vendor = "Slipway",
};
