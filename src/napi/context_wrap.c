/*
 * context_wrap.c - the Context class: a JavaScript handle that owns one
 * reference on a context until close() or its finalizer, whichever is first.
 * Type-tagged, because handles are passed to Connection as arguments.
 */
#include <openssl/crypto.h>

#include "args.h"
#include "binding.h"
#include "error.h"
#include "loop.h"

static const napi_type_tag context_tag = {0x65746c73636f6e74ULL,
                                          0x9d1f7a4be2c35086ULL};

struct context_handle {
  struct etls_context *context; /* NULL: closed */
};

static void finalize(napi_env env, void *data, void *hint) {
  struct context_handle *handle = data;
  (void)env;
  (void)hint;
  etls_context_release(handle->context);
  OPENSSL_free(handle);
}

/* One field of the flat array, option by option in node's order. */
static bool add_field(napi_env env, struct etls_config *config, int64_t option,
                      napi_value value, napi_value passphrase) {
  enum etls_option name = (enum etls_option)option;
  enum etls_status status = ETLS_ERR_INTERNAL;
  napi_valuetype type = napi_undefined;
  const uint8_t *bytes = NULL;
  const uint8_t *secret = NULL;
  char *text = NULL;
  char *pass_text = NULL;
  size_t len = 0;
  size_t secret_len = 0;
  int64_t number = 0;
  bool ok = false;

  if (napi_typeof(env, value, &type) != napi_ok)
    goto out;
  if (type == napi_number) {
    if (!args_int(env, value, &number))
      goto out;
    status = etls_config_add_int(config, name, number);
    goto done;
  }
  if (type == napi_string) {
    text = args_string(env, value, &len);
    if (text == NULL)
      goto out;
    bytes = (const uint8_t *)text;
  } else if (!args_bytes(env, value, &bytes, &len)) {
    goto out;
  }
  if (name != ETLS_OPTION_KEY && name != ETLS_OPTION_PFX) {
    status = etls_config_add_bytes(config, name, bytes, len);
    goto done;
  }
  if (napi_typeof(env, passphrase, &type) != napi_ok)
    goto out;
  if (type == napi_string) {
    pass_text = args_string(env, passphrase, &secret_len);
    if (pass_text == NULL)
      goto out;
    secret = (const uint8_t *)pass_text;
  } else if (type != napi_undefined && type != napi_null) {
    if (!args_bytes(env, passphrase, &secret, &secret_len))
      goto out;
  }
  status = etls_config_add_secret(config, name, bytes, len, secret, secret_len);
done:
  ok = status == ETLS_OK;
  if (!ok)
    args_throw(env, etls_status_name(status));
out:
  if (text != NULL)
    args_string_free(text, len);
  if (pass_text != NULL)
    args_string_free(pass_text, secret_len);
  return ok;
}

static struct etls_config *read_fields(napi_env env, napi_value fields) {
  struct etls_config *config = NULL;
  uint32_t count = 0;
  if (napi_get_array_length(env, fields, &count) != napi_ok || count % 3 != 0) {
    args_throw(env, "fields: not an array of triples");
    return NULL;
  }
  config = etls_config_new();
  if (config == NULL) {
    args_throw(env, "out of memory");
    return NULL;
  }
  for (uint32_t i = 0; i < count; i += 3) {
    napi_value item[3];
    int64_t option = 0;
    if (napi_get_element(env, fields, i, &item[0]) != napi_ok ||
        napi_get_element(env, fields, i + 1, &item[1]) != napi_ok ||
        napi_get_element(env, fields, i + 2, &item[2]) != napi_ok ||
        !args_int(env, item[0], &option) ||
        !add_field(env, config, option, item[1], item[2])) {
      args_throw(env, "fields: unreadable");
      etls_config_free(config);
      return NULL;
    }
  }
  return config;
}

struct etls_context *context_from_fields(napi_env env, napi_value fields,
                                         bool single_use) {
  struct binding *binding = binding_get(env);
  struct etls_context *context = NULL;
  struct etls_config *config = NULL;
  napi_handle_scope scope = NULL;
  enum etls_status status;

  /* 120 certificates are 360 handles: close them with the scope. */
  if (napi_open_handle_scope(env, &scope) != napi_ok)
    return NULL;
  config = read_fields(env, fields);
  napi_close_handle_scope(env, scope);
  if (config == NULL)
    return NULL;
  etls_error_init(&binding->error);
  status = single_use
               ? etls_context_cache_create_single_use(binding->contexts, config,
                                                      &context, &binding->error)
               : etls_context_cache_acquire(binding->contexts, config,
                                            loop_now_ms(binding), &context,
                                            &binding->error);
  etls_config_free(config);
  if (status != ETLS_OK) {
    error_throw_context(env, &binding->error);
    return NULL;
  }
  return context;
}

struct etls_context *context_unwrap(napi_env env, napi_value value) {
  struct context_handle *handle = NULL;
  void *data = NULL;
  bool tagged = false;
  if (napi_check_object_type_tag(env, value, &context_tag, &tagged) !=
          napi_ok ||
      !tagged || napi_unwrap(env, value, &data) != napi_ok) {
    args_throw(env, "not a Context");
    return NULL;
  }
  handle = data;
  if (handle->context == NULL)
    napi_throw_error(env, "ERR_EAGER_TLS_CONTEXT_CLOSED",
                     "The secure context is closed");
  return handle->context;
}

/* new Context(fields, singleUse) */
static napi_value construct(napi_env env, napi_callback_info info) {
  size_t argc = 2;
  napi_value argv[2];
  napi_value self;
  bool single_use = false;
  struct context_handle *handle = NULL;
  if (napi_get_cb_info(env, info, &argc, argv, &self, NULL) != napi_ok ||
      !args_bool(env, argv[1], &single_use))
    return NULL;
  handle = OPENSSL_zalloc(sizeof *handle);
  if (handle == NULL) {
    args_throw(env, "out of memory");
    return NULL;
  }
  handle->context = context_from_fields(env, argv[0], single_use);
  if (handle->context == NULL) {
    OPENSSL_free(handle);
    return NULL;
  }
  if (napi_wrap(env, self, handle, finalize, NULL, NULL) != napi_ok) {
    finalize(env, handle, NULL);
    args_throw(env, "cannot wrap");
    return NULL;
  }
  if (napi_type_tag_object(env, self, &context_tag) != napi_ok)
    args_throw(env, "cannot tag");
  return self;
}

static struct context_handle *this_handle(napi_env env,
                                          napi_callback_info info) {
  napi_value self;
  void *data = NULL;
  size_t argc = 0;
  if (napi_get_cb_info(env, info, &argc, NULL, &self, NULL) != napi_ok ||
      napi_unwrap(env, self, &data) != napi_ok) {
    args_throw(env, "not a Context");
    return NULL;
  }
  return data;
}

static napi_value method_close(napi_env env, napi_callback_info info) {
  struct context_handle *handle = this_handle(env, info);
  if (handle == NULL)
    return NULL;
  etls_context_release(handle->context);
  handle->context = NULL;
  return NULL;
}

/* digest() -> Buffer of 32 bytes, undefined once closed */
static napi_value method_digest(napi_env env, napi_callback_info info) {
  struct context_handle *handle = this_handle(env, info);
  if (handle == NULL || handle->context == NULL)
    return NULL;
  return args_new_buffer(env, etls_context_get0_digest(handle->context),
                         ETLS_DIGEST_LEN);
}

/* weakDhBits() -> bits of DH parameters that node warns of, else 0 */
static napi_value method_weak_dh_bits(napi_env env, napi_callback_info info) {
  struct context_handle *handle = this_handle(env, info);
  if (handle == NULL || handle->context == NULL)
    return NULL;
  return args_new_number(env, etls_context_weak_dh_bits(handle->context));
}

napi_status context_define(napi_env env, napi_value exports) {
  static const napi_property_descriptor methods[] = {
      METHOD("close", method_close),
      METHOD("digest", method_digest),
      METHOD("weakDhBits", method_weak_dh_bits),
  };
  napi_value constructor = NULL;
  napi_status status = napi_define_class(
      env, "Context", NAPI_AUTO_LENGTH, construct, NULL,
      sizeof methods / sizeof methods[0], methods, &constructor);
  if (status != napi_ok)
    return status;
  return napi_set_named_property(env, exports, "Context", constructor);
}
