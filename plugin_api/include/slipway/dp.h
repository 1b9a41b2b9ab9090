/* Data-parallel backends, "slw.dp/1": where parameters and gradients lie, who owns which shard, when they are reduced.
 *
 * `plan` is a pure function of the table, the same on every rank (the core compares a hash over tp x dp x cp before it
 * allocates). All reductions are SUM: denominators are already in the gradients. Buckets are launched in the plan's
 * order, whatever the order of grad_ready.
 */
#ifndef SLIPWAY_DP_H_
#define SLIPWAY_DP_H_

#include <slipway/optimizer.h>
#include <slipway/services.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLW_KIND_DP "slw.dp/1"

typedef struct slw_dp_param {
  uint32_t struct_size;
  int32_t index, chunk, unit; /* index: unique over chunks; a stack is one entry; unit -1: none */
  const slw_param_decl* decl;
  int64_t local_numel;              /* with padding, after cuts */
  int32_t backward_order, reserved; /* 0 for the last declared: gradients come roughly in this order */
  const char* group;                /* "dp_cp", or "edp" for experts */
} slw_dp_param;

enum { SLW_BUFFER_PARAM_SHARDED = 1u << 0, SLW_BUFFER_GRAD_SHARDED = 1u << 1 };
typedef struct slw_buffer_plan {
  uint32_t struct_size, flags;
  slw_dtype param, grad;
  int64_t numel;
  const char* shard_group;
  const char* replica_group; /* NULL: not hybrid */
  int32_t unit, chunk;
} slw_buffer_plan;

typedef struct slw_plan_sink {
  uint32_t struct_size, reserved;
  void* impl;
  slw_status (*buffer)(struct slw_plan_sink*, const slw_buffer_plan*, int32_t* id_out, slw_error*);
  slw_status (*bucket)(struct slw_plan_sink*, int32_t buffer, int64_t begin, int64_t end, slw_error*);
  /* Every parameter exactly once; offset in elements, a multiple of 16 (64 bytes of fp32). */
  slw_status (*place)(struct slw_plan_sink*, int32_t param_index, int32_t buffer, int64_t offset, slw_error*);
  /* Elements [begin, end) of the local parameter are updated by this rank of the group. Without any call for a
   * parameter all ranks update all of it. */
  slw_status (*shard)(struct slw_plan_sink*, int32_t param_index, int32_t owner_dp_rank, int64_t begin, int64_t end,
                      slw_error*);
} slw_plan_sink;

typedef struct slw_buffer { /* allocated by the core, valid until destroy */
  uint32_t struct_size;
  int32_t id;
  slw_tensor param, grad; /* 1-D */
} slw_buffer;

/* Transient full-size memory of a unit, counted by the core. */
typedef struct slw_pool {
  uint32_t struct_size, reserved;
  void* impl;
  slw_status (*take)(struct slw_pool*, int32_t unit, int32_t grad, const slw_stream*, void** out, slw_error*);
  void (*give)(struct slw_pool*, int32_t unit, int32_t grad, void*, const slw_stream*);
} slw_pool;

typedef struct slw_attach_args {
  uint32_t struct_size, flags;
  uint32_t num_buffers, reserved;
  const slw_buffer* const* buffers; /* by id */
  slw_pool* pool;
} slw_attach_args;

enum { SLW_PHASE_FORWARD = 0, SLW_PHASE_RECOMPUTE = 1, SLW_PHASE_BACKWARD = 2, SLW_PHASE_EVAL = 3 };
typedef struct slw_unit_args {
  uint32_t struct_size, flags;
  int32_t unit, phase, microbatch, last_microbatch;
  slw_stream stream;
  void* param; /* filled by the plugin */
  void* grad;  /* filled, zeroed, in BACKWARD */
} slw_unit_args;

typedef struct slw_ready_args {
  uint32_t struct_size, flags;
  int32_t index, microbatch, last_microbatch, reserved;
  slw_stream stream;
} slw_ready_args;

typedef struct slw_dp slw_dp;
typedef struct slw_dp_vtable {
  uint32_t struct_size, flags;
  slw_status (*create)(const slw_host*, const char* config_json, const slw_run_info*, slw_dp** out,
                       slw_error*);                                                                /* [offline] */
  void (*destroy)(slw_dp*);                                                                        /* [main] */
  slw_status (*plan)(slw_dp*, uint32_t n, const slw_dp_param* const*, slw_plan_sink*, slw_error*); /* [offline] */
  slw_status (*attach)(slw_dp*, const slw_attach_args*, slw_error*);                               /* [main] */
  /* Re-arms the buckets. The core has zeroed the gradients. [step] */
  slw_status (*step_begin)(slw_dp*, const slw_stream*, slw_error*);
  /* Concurrent with [step] calls of the model. A backend acts on the last microbatch. [any] */
  slw_status (*grad_ready)(slw_dp*, const slw_ready_args*, slw_error*);
  /* All gradients (or the shards this rank owns) are reduced in stream order. [step; collective: the buffers' groups]
   */
  slw_status (*grad_reduce_finish)(slw_dp*, const slw_stream*, slw_error*);
  /* After the optimizer: makes updated parameters whole again. NULL: nothing to do. [step; collective: as above] */
  slw_status (*param_gather_start)(slw_dp*, const slw_stream*, slw_error*);
  slw_status (*param_gather_wait)(slw_dp*, int32_t param_index, const slw_stream*, slw_error*); /* -1: all   [any] */
  slw_status (*unit_acquire)(slw_dp*, slw_unit_args*, slw_error*); /* at the first user of a unit; or NULL     [any] */
  slw_status (*unit_release)(slw_dp*, slw_unit_args*, slw_error*); /* at the last; or NULL                     [any] */
} slw_dp_vtable;

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_DP_H_ */
