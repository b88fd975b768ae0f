/*
 * error.c - see error.h. Sources of the shapes: node's
 * src/crypto/crypto_util.cc (context errors) and src/crypto/crypto_tls.cc
 * (connection errors).
 */
#include "error.h"

#include "args.h"

static void set_text(napi_env env, napi_value object, const char *name,
                     const char *text) {
  if (text[0] == '\0')
    return;
  napi_value value = args_new_string(env, text);
  if (value != NULL)
    napi_set_named_property(env, object, name, value);
}

static napi_value new_error(napi_env env, const char *message,
                            bool type_error) {
  napi_value text = args_new_string(env, message);
  napi_value error = NULL;
  napi_status status;
  if (text == NULL)
    return NULL;
  status = type_error ? napi_create_type_error(env, NULL, text, &error)
                      : napi_create_error(env, NULL, text, &error);
  return status == napi_ok ? error : NULL;
}

static void set_stack(napi_env env, napi_value object,
                      const struct etls_error *error) {
  napi_value list = NULL;
  if (error->stack_len == 0)
    return;
  if (napi_create_array_with_length(env, error->stack_len, &list) != napi_ok)
    return;
  for (size_t i = 0; i < error->stack_len; i++) {
    napi_value text = args_new_string(env, error->stack[i]);
    if (text == NULL)
      return;
    napi_set_element(env, list, (uint32_t)i, text);
  }
  napi_set_named_property(env, object, "opensslErrorStack", list);
}

static const char *text_of(const struct etls_error *error) {
  if (error->message[0] != '\0')
    return error->message;
  if (error->status == ETLS_ERR_MEMORY)
    return "out of memory";
  return etls_status_name(error->status);
}

void error_throw_context(napi_env env, const struct etls_error *error) {
  /* Argument errors of node (ERR_INVALID_ARG_VALUE for short DH parameters)
   * are TypeErrors. */
  bool type_error =
      error->openssl == 0 &&
      (error->option == ETLS_OPTION_SESSION_ID_CONTEXT ||
       (error->option == ETLS_OPTION_DH_PARAM && error->code[0] != '\0'));
  napi_value object = new_error(env, text_of(error), type_error);
  if (object == NULL) {
    args_throw(env, text_of(error));
    return;
  }
  set_stack(env, object, error);
  set_text(env, object, "library", error->library);
  set_text(env, object, "reason", error->reason);
  set_text(env, object, "code", error->code);
  /* What OpenSSL refuses without a reason has no code in node either. */
  if (error->code[0] == '\0' && error->openssl == 0 &&
      error->status != ETLS_ERR_TLS)
    set_text(env, object, "code", "ERR_EAGER_TLS_INTERNAL");
  napi_throw(env, object);
}

napi_value error_of_connection(napi_env env, const struct etls_error *error) {
  napi_value object = NULL;
  if (error->status == ETLS_ERR_IO) {
    if (napi_create_array_with_length(env, 2, &object) != napi_ok)
      return NULL;
    napi_set_element(env, object, 0,
                     args_new_number(env, -(double)error->sys_errno));
    napi_set_element(
        env, object, 1,
        args_new_string(env, error->syscall == NULL ? "read" : error->syscall));
    return object;
  }
  object = new_error(
      env, error->report[0] != '\0' ? error->report : text_of(error), false);
  if (object == NULL)
    return NULL;
  set_text(env, object, "library", error->library);
  set_text(env, object, "reason", error->reason);
  set_text(env, object, "code", error->ssl_code);
  /* What OpenSSL has no name for, such as an alert that nobody has defined, is
   * no fault of ours. */
  if (error->ssl_code[0] == '\0' && error->openssl == 0)
    set_text(env, object, "code", "ERR_EAGER_TLS_INTERNAL");
  return object;
}

void error_throw_connection(napi_env env, const struct etls_error *error) {
  napi_value object = error_of_connection(env, error);
  if (object == NULL)
    args_throw(env, text_of(error));
  else
    napi_throw(env, object);
}
