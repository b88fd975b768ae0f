/*
 * loop.h - the event loop, for the rest of the binding: a descriptor is
 * polled for a connection, and what happens is told to JavaScript.
 */
#ifndef ETLS_LOOP_H
#define ETLS_LOOP_H

#include "binding.h"

/* The loop's clock, milliseconds, monotonic, cheap. */
int64_t loop_now_ms(struct binding *binding);

/*
 * Duplicates fd and polls it for the connection; JavaScript's callback is
 * called with `owner` as this. Takes strong references on owner until
 * loop_detach. Returns 0 or -errno; on failure the connection is as before.
 */
int loop_attach(struct connection *connection, napi_value owner, int fd);
/* Stops polling and closes the duplicate at once; idempotent. */
void loop_detach(struct connection *connection);
/* Polls for what connection->reading and its output ask for. */
void loop_update(struct connection *connection);
/* Sends what the engine has, the rest when the kernel can take it. An error is
 * told by an event later. */
void loop_flush(struct connection *connection);
/* Whether this connection keeps the process alive. */
void loop_ref(struct connection *connection, bool ref);
/* Called when the environment ends, before its loop: closes all connections
 * and reports when libuv has let go of their handles. */
void loop_cleanup(napi_async_cleanup_hook_handle handle, void *data);

#endif
