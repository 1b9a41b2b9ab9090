/* Optimizers, "slw.optimizer/1": a pure function over shards. The core owns fp32 masters, state slots, gradient norm,
 * clipping, schedules, checkpoints and resharding; the plugin keeps nothing between steps. */
#ifndef SLIPWAY_OPTIMIZER_H_
#define SLIPWAY_OPTIMIZER_H_

#include <slipway/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLW_KIND_OPTIMIZER "slw.optimizer/1"
enum {                             /* layouts an optimizer accepts for a parameter */
       SLW_LAYOUT_FLAT = 1u << 0,  /* any 1-D slice of the flattened local parameter */
       SLW_LAYOUT_PARAM = 1u << 2, /* the whole tp-local tensor */
       SLW_LAYOUT_GLOBAL = 1u << 3 /* the whole global matrix, at one home rank */
};
enum { SLW_STATE_LIKE_SHARD = 0, SLW_STATE_SCALAR = 3 };

typedef struct slw_state_sink {
  uint32_t struct_size, reserved;
  void* impl;
  /* Mask of SLW_LAYOUT_*; cost: relative work, for balancing whole matrices. Once per parameter. */
  slw_status (*layouts)(struct slw_state_sink*, uint32_t acceptable, double cost, slw_error*);
  /* A state slot: checkpointed and resharded under (parameter, name). extent: SLW_STATE_*. */
  slw_status (*slot)(struct slw_state_sink*, const char* name, slw_dtype, int32_t extent, double fill, slw_error*);
} slw_state_sink;

typedef struct slw_shard { /* one piece of work */
  uint32_t struct_size;
  int32_t param_index, block, reserved; /* block: which row block, PARAM and GLOBAL only */
  const slw_param_decl* decl;
  slw_tensor master, grad; /* FLAT: 1-D. PARAM, GLOBAL: one block as a strided [repeat, rows, cols] view. fp32 */
  int64_t flat_offset, global_rows, global_cols; /* FLAT: where the slice begins in the local parameter */
  uint32_t num_states, reserved2;
  slw_tensor* const* states; /* in the order of slot() */
  double lr, weight_decay;   /* schedule and multipliers applied */
  int64_t step;              /* applied updates, this one included: 1 at the first */
} slw_shard;

typedef struct slw_opt_step_args {
  uint32_t struct_size, flags;
  uint32_t num_shards, reserved;
  const slw_shard* const* shards;
  double grad_scale;                   /* multiply gradients by it: loss scale and clipping folded together */
  const slw_tensor* grad_scale_device; /* not NULL: use this fp64 scalar instead (no host sync) */
  slw_stream stream;
} slw_opt_step_args;

typedef struct slw_optimizer slw_optimizer;
typedef struct slw_optimizer_vtable {
  uint32_t struct_size, flags;
  slw_status (*create)(const slw_host*, const char* config_json, const slw_run_info*, slw_optimizer** out,
                       slw_error*); /* [offline] */
  void (*destroy)(slw_optimizer*);  /* [main] */
  /* 0: leave this parameter to the manifest's optimizer.fallback. NULL: all are claimed. [offline] */
  int32_t (*claims)(slw_optimizer*, const slw_param_decl*);
  slw_status (*declare)(slw_optimizer*, const slw_param_decl*, slw_state_sink*, slw_error*); /* [offline] */
  /* May be called several times a step with disjoint shards. Must not change `grad`. [step] */
  slw_status (*step)(slw_optimizer*, const slw_opt_step_args*, slw_error*);
} slw_optimizer_vtable;

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_OPTIMIZER_H_ */
