/*
 * error.h - struct etls_error -> JavaScript Error, mapped once.
 */
#ifndef ETLS_NAPI_ERROR_H
#define ETLS_NAPI_ERROR_H

#include "binding.h"

/*
 * Errors of building a context: message, code, library, reason and
 * opensslErrorStack as node's ThrowCryptoError gives them.
 */
void error_throw_context(napi_env env, const struct etls_error *error);
/* Throws the shape of a failed method of a connection. */
void error_throw_connection(napi_env env, const struct etls_error *error);
/*
 * Errors of a connection: an Error with library, reason and code as node's
 * TLSWrap gives them, or, for a failed system call, the array
 * [errno (negative), syscall] that lib/errors.js makes node's error of.
 */
napi_value error_of_connection(napi_env env, const struct etls_error *error);

#endif
