/*
 * args.h - values in: checked conversions from JavaScript. On failure each
 * throws a TypeError with code ERR_EAGER_TLS_INTERNAL (lib/ validates what
 * users pass; getting here is our fault) and returns false.
 */
#ifndef ETLS_ARGS_H
#define ETLS_ARGS_H

#include "binding.h"

/* Bytes of a Buffer, TypedArray or DataView; valid while the value lives and
 * no JavaScript runs. */
bool args_bytes(napi_env env, napi_value value, const uint8_t **data,
                size_t *len);
/* The same for writing into. */
bool args_buffer(napi_env env, napi_value value, uint8_t **data, size_t *len);
/* The same of a referenced view, as it is now; *len 0: it is gone, or detached.
 * Throws nothing. */
void args_referenced(napi_env env, napi_ref ref, uint8_t **data, size_t *len);
bool args_int(napi_env env, napi_value value, int64_t *out);
bool args_bool(napi_env env, napi_value value, bool *out);
/* A NUL-terminated UTF-8 copy, to be freed with args_string_free, which clears
 * it. NULL: thrown. */
char *args_string(napi_env env, napi_value value, size_t *len);
void args_string_free(char *string, size_t len);
bool args_is_nullish(napi_env env, napi_value value);
/* Throws ERR_EAGER_TLS_INTERNAL with this text. */
void args_throw(napi_env env, const char *text);

/* Values out; NULL on failure, with an exception pending. */
napi_value args_new_buffer(napi_env env, const void *data, size_t len);
napi_value args_new_string(napi_env env, const char *text);
napi_value args_new_number(napi_env env, double number);
napi_value args_new_bool(napi_env env, bool value);
napi_value args_undefined(napi_env env);

#endif
