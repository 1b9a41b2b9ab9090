/* Counter-based random numbers that do not depend on the layout (rng = invariant).
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a pure function
 * of a 64-bit key and a 128-bit counter. The rules below are frozen with the ABI's major: any slice of a tensor draws
 * the numbers that the whole tensor would have drawn.
 *
 *   key      slw_philox_key(run seed, purpose, name)
 *   weights  purpose "init", name = the parameter's name; element i (row-major, global, logical shape) is lane i % 4 of
 *            counter (lo32(i / 4), hi32(i / 4), 0, 0)
 *   dropout  purpose "dropout", name = the place ("decoder.layers.3.mlp"); the element at channel c of the token at
 *            global position t of sample n (sample_ids) is lane c % 4 of counter (c / 4, t, lo32(n), hi32(n)); it is
 *            dropped when the lane is below slw_dropout_threshold(p). Attention weights use the channel
 *            c = head * seq_length + key position, below 2^34.
 */
#ifndef SLIPWAY_PHILOX_H_
#define SLIPWAY_PHILOX_H_

#include <stdint.h>

static inline uint64_t slw_fnv1a(const char* text) {
  uint64_t h = UINT64_C(0xCBF29CE484222325);
  for (; *text != '\0'; ++text) h = (h ^ (uint64_t)(unsigned char)*text) * UINT64_C(0x100000001B3);
  return h;
}

/* The finaliser of SplitMix64. */
static inline uint64_t slw_mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static inline uint64_t slw_philox_key(uint64_t seed, const char* purpose, const char* name) {
  uint64_t h = slw_mix64(seed + UINT64_C(0x9E3779B97F4A7C15));
  h = slw_mix64(h ^ slw_fnv1a(purpose)) + UINT64_C(0x9E3779B97F4A7C15);
  return slw_mix64(h ^ slw_fnv1a(name));
}

typedef struct {
  uint32_t lane[4];
} slw_philox_block;

static inline slw_philox_block slw_philox(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)UINT32_C(0xD2511F53) * c0;
    const uint64_t p1 = (uint64_t)UINT32_C(0xCD9E8D57) * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += UINT32_C(0x9E3779B9);
    k1 += UINT32_C(0xBB67AE85);
  }
  slw_philox_block out = {{c0, c1, c2, c3}};
  return out;
}

/* A lane as a number in (0, 1): (lane + 0.5) / 2^32. */
static inline double slw_uniform(uint32_t lane) { return ((double)lane + 0.5) * (1.0 / 4294967296.0); }

/* An element is dropped when its lane is below this; p in [0, 1). */
static inline uint32_t slw_dropout_threshold(double p) { return (uint32_t)(p * 4294967296.0); }

#endif /* SLIPWAY_PHILOX_H_ */
