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
/* Stops polling and closes the duplicate, at once unless that might cost the
 * peer what we have sent; idempotent. */
void loop_detach(struct connection *connection);
/* Polls for what connection->reading and its output ask for. */
void loop_update(struct connection *connection);
/* Sends what the engine has, the rest when the kernel can take it. An error is
 * told by an event later. Returns EVENT_DRAIN when a write waited for that,
 * else 0. */
uint32_t loop_flush(struct connection *connection);
/* The same when there may be no later: what was written, or the alert that says
 * what was wrong. Before the peer is verified nothing else is sent. */
void loop_flush_last(struct connection *connection);
void loop_flush_all(struct binding *binding);
/* A pending exception becomes an uncaught one. */
void loop_report_exception(napi_env env);
/* Whether this connection keeps the process alive. */
void loop_ref(struct connection *connection, bool ref);
/* Called when the environment ends, before its loop: closes all connections
 * and reports when libuv has let go of their handles. */
void loop_cleanup(napi_async_cleanup_hook_handle handle, void *data);

#endif
