/*
 * An addon that carries an OpenSSL of its own, as some on npm do: linked
 * against the static libraries of the system. It exports use(), which works
 * with it and returns its directory.
 */
#include <node_api.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

static napi_value use(napi_env env, napi_callback_info info) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  napi_value result = NULL;
  SSL *ssl = NULL;
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

  (void)info;
  if (ctx != NULL)
    ssl = SSL_new(ctx);
  if (ssl == NULL || EVP_Digest("", 0, digest, &length, EVP_sha256(), NULL) != 1)
    napi_throw_error(env, NULL, "the addon's own OpenSSL does not work");
  else
    napi_create_string_utf8(env, OpenSSL_version(OPENSSL_DIR),
                            NAPI_AUTO_LENGTH, &result);
  SSL_free(ssl);
  SSL_CTX_free(ctx);
  return result;
}

NAPI_MODULE_INIT() {
  napi_value function;

  if (napi_create_function(env, "use", NAPI_AUTO_LENGTH, use, NULL,
                           &function) != napi_ok ||
      napi_set_named_property(env, exports, "use", function) != napi_ok)
    return NULL;
  return exports;
}
