/*
 * args.c - see args.h. Nothing here keeps a value beyond the call.
 */
#include "args.h"

#include <openssl/crypto.h>

void args_throw(napi_env env, const char *text) {
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) == napi_ok && pending)
    return;
  napi_throw_type_error(env, "ERR_EAGER_TLS_INTERNAL", text);
}

/* By enum napi_typedarray_type; 0: younger than this table. */
static size_t element_size(napi_typedarray_type type) {
  static const uint8_t sizes[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8, 2};
  const size_t index = (size_t)type;
  return index < sizeof sizes ? sizes[index] : 0;
}

static bool view(napi_env env, napi_value value, uint8_t **data, size_t *len) {
  void *ptr = NULL;
  size_t count = 0;
  bool is = false;
  napi_typedarray_type type;
  if (napi_is_typedarray(env, value, &is) == napi_ok && is) {
    if (napi_get_typedarray_info(env, value, &type, &count, &ptr, NULL, NULL) ==
            napi_ok &&
        element_size(type) != 0) {
      *data = ptr;
      *len = count * element_size(type);
      return true;
    }
  } else if (napi_is_dataview(env, value, &is) == napi_ok && is) {
    if (napi_get_dataview_info(env, value, &count, &ptr, NULL, NULL) ==
        napi_ok) {
      *data = ptr;
      *len = count;
      return true;
    }
  }
  return false;
}

bool args_buffer(napi_env env, napi_value value, uint8_t **data, size_t *len) {
  if (view(env, value, data, len))
    return true;
  args_throw(env, "not an ArrayBufferView");
  return false;
}

void args_referenced(napi_env env, napi_ref ref, uint8_t **data, size_t *len) {
  napi_value value = NULL;
  if (ref == NULL || napi_get_reference_value(env, ref, &value) != napi_ok ||
      value == NULL || !view(env, value, data, len) || *data == NULL) {
    *data = NULL;
    *len = 0;
  }
}

bool args_bytes(napi_env env, napi_value value, const uint8_t **data,
                size_t *len) {
  uint8_t *ptr = NULL;
  if (!args_buffer(env, value, &ptr, len))
    return false;
  *data = ptr;
  return true;
}

bool args_int(napi_env env, napi_value value, int64_t *out) {
  if (napi_get_value_int64(env, value, out) == napi_ok)
    return true;
  args_throw(env, "not a number");
  return false;
}

bool args_bool(napi_env env, napi_value value, bool *out) {
  if (napi_get_value_bool(env, value, out) == napi_ok)
    return true;
  args_throw(env, "not a boolean");
  return false;
}

char *args_string(napi_env env, napi_value value, size_t *len) {
  size_t size = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &size) != napi_ok) {
    args_throw(env, "not a string");
    return NULL;
  }
  char *text = OPENSSL_malloc(size + 1);
  if (text == NULL) {
    args_throw(env, "out of memory");
    return NULL;
  }
  if (napi_get_value_string_utf8(env, value, text, size + 1, len) != napi_ok) {
    OPENSSL_clear_free(text, size + 1);
    args_throw(env, "not a string");
    return NULL;
  }
  return text;
}

void args_string_free(char *string, size_t len) {
  OPENSSL_clear_free(string, len + 1);
}

bool args_is_nullish(napi_env env, napi_value value) {
  napi_valuetype type;
  if (napi_typeof(env, value, &type) != napi_ok)
    return true;
  return type == napi_undefined || type == napi_null;
}

napi_value args_new_buffer(napi_env env, const void *data, size_t len) {
  napi_value value = NULL;
  if (napi_create_buffer_copy(env, len, len == 0 ? "" : data, NULL, &value) !=
      napi_ok) {
    args_throw(env, "out of memory");
    return NULL;
  }
  return value;
}

napi_value args_new_string(napi_env env, const char *text) {
  napi_value value = NULL;
  if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) != napi_ok)
    return NULL;
  return value;
}

napi_value args_new_number(napi_env env, double number) {
  napi_value value = NULL;
  if (napi_create_double(env, number, &value) != napi_ok)
    return NULL;
  return value;
}

napi_value args_new_bool(napi_env env, bool value) {
  napi_value result = NULL;
  if (napi_get_boolean(env, value, &result) != napi_ok)
    return NULL;
  return result;
}

napi_value args_undefined(napi_env env) {
  napi_value value = NULL;
  if (napi_get_undefined(env, &value) != napi_ok)
    return NULL;
  return value;
}
