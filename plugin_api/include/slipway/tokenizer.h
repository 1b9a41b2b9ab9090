/* Tokenizers, "slw.tokenizer/1": bytes of text to ids and back. A tokenizer is used where text goes in or comes out
 * (generate, building data); training itself sees ids only. One instance is immutable once created. */
#ifndef SLIPWAY_TOKENIZER_H_
#define SLIPWAY_TOKENIZER_H_

#include <slipway/host.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLW_KIND_TOKENIZER "slw.tokenizer/1"

typedef struct slw_tokenizer_info {
  uint32_t struct_size, flags;
  int64_t vocab_size;                              /* ids are in [0, vocab_size) */
  int64_t eod_id, pad_id, cls_id, sep_id, mask_id; /* -1: none */
} slw_tokenizer_info;

typedef struct slw_tokenizer slw_tokenizer;
typedef struct slw_tokenizer_vtable {
  uint32_t struct_size, flags;
  /* Reads what it needs; later calls touch no file. [main] */
  slw_status (*create)(const slw_host*, const char* config_json, slw_tokenizer** out, slw_error*);
  void (*destroy)(slw_tokenizer*);                                               /* [main], no call in flight */
  slw_status (*info)(const slw_tokenizer*, slw_tokenizer_info* out, slw_error*); /* [any] */
  /* Ids of `size` bytes of text, which need not be valid UTF-8; never special ones. At most `capacity` ids are written,
   * `needed` is set to their full number; capacity 0 with ids NULL only counts. [any] */
  slw_status (*encode)(const slw_tokenizer*, const char* text, uint64_t size, int64_t* ids, uint64_t capacity,
                       uint64_t* needed, slw_error*);
  /* Bytes of `count` ids, without a NUL; special ids give none. The bytes of a text cut anywhere between ids are the
   * bytes of its parts, one after the other. At most `capacity` bytes are written, `needed` is set to their full
   * number. An id outside the vocabulary is SLW_INVALID_ARGUMENT. [any] */
  slw_status (*decode)(const slw_tokenizer*, const int64_t* ids, uint64_t count, char* text, uint64_t capacity,
                       uint64_t* needed, slw_error*);
} slw_tokenizer_vtable;

#ifdef __cplusplus
}
#endif
#endif /* SLIPWAY_TOKENIZER_H_ */
