/*
 * engine.h - what the rest of the core needs of the engine beyond
 * eager_tls.h.
 */
#ifndef ETLS_ENGINE_H
#define ETLS_ENGINE_H

#include <openssl/ssl.h>

#include "eager_tls.h"

/* Puts the callbacks that record for engines on a new SSL_CTX; called once
 * per context, before its first SSL. */
void etls_engine_install_callbacks(SSL_CTX *ctx);

#endif
