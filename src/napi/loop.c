/*
 * loop.c - the only user of libuv: the life of poll handles, and the one place
 * from which JavaScript is called.
 *
 * A connection on a descriptor polls a dup() of the raw socket's descriptor:
 * libuv's own handle for the raw socket stays idle beside it, and whoever
 * closes that one does not pull the number away under us.
 *
 * struct poll is freed by uv_close's callback and may outlive its connection
 * (poll->connection is NULL then). A connection that polls holds a strong
 * reference on its owner, as node's handles do.
 *
 * One wake-up reads at most READ_BUDGET bytes, so that a fast peer cannot
 * starve the others; level-triggered polling brings us back. Output is flushed
 * once, after JavaScript ran: the client's Finished and the first request then
 * share a segment.
 *
 * Lingering. Whatever the peer sends to a closed descriptor (a ticket, data
 * that crossed our close_notify) is answered with a reset, upon which both
 * kernels forget what of our data is still under way. So where FIN was sent,
 * the kernel has not got rid of everything and the peer has not ended, the poll
 * handle and the descriptor outlive the connection for a while, in a struct
 * lingering, and what comes is read and forgotten. It keeps no process alive.
 */
#include "loop.h"

#include <errno.h>
#include <stdio.h>

#include <openssl/crypto.h>
#include <uv.h>

#include "args.h"
#include "error.h"

enum { READ_BUDGET = 262144, FLUSH_ROUNDS = 4, LINGER_MS = 2000 };

/* Output that is more than what JavaScript may have written: answers of the
 * engine, to KeyUpdates, that the peer does not read. */
enum { UNREAD_ANSWERS_MAX = 2 * ETLS_OUTPUT_HIGH };

struct poll {
  uv_poll_t handle;
  struct connection *connection; /* NULL: detached */
  struct binding *binding;
  struct lingering *linger; /* NULL unless lingering */
  int events;               /* what is polled for now */
};

struct lingering {
  uv_timer_t timer;
  struct binding *binding;
  struct poll *poll;
  struct etls_fd_transport transport;
  struct lingering *prev, *next;
};

int64_t loop_now_ms(struct binding *binding) {
  struct uv_loop_s *loop = NULL;
  if (napi_get_uv_event_loop(binding->env, &loop) != napi_ok)
    return 0;
  return (int64_t)uv_now(loop);
}

/* An exception of a listener reaches 'uncaughtException', as it does when
 * node's own handles call back. */
void loop_report_exception(napi_env env) {
  napi_value exception = NULL;
  bool pending = false;
  if (napi_is_exception_pending(env, &pending) != napi_ok || !pending)
    return;
  if (napi_get_and_clear_last_exception(env, &exception) != napi_ok)
    return;
  napi_fatal_exception(env, exception);
}

/* Tells JavaScript. The connection may be closed afterwards. */
static void emit(struct connection *connection, uint32_t events) {
  struct binding *binding = connection->binding;
  napi_env env = binding->env;
  napi_value owner = NULL;
  napi_value callback = NULL;
  napi_value argument = NULL;
  napi_status status;
  if (events == 0 || binding->exiting)
    return;
  if (napi_get_reference_value(env, connection->owner_ref, &owner) != napi_ok ||
      napi_get_reference_value(env, binding->callback_ref, &callback) !=
          napi_ok ||
      owner == NULL || callback == NULL ||
      napi_create_uint32(env, events, &argument) != napi_ok)
    return;
  connection->emitting = true;
  status = napi_make_callback(env, connection->async, owner, callback, 1,
                              &argument, NULL);
  connection->emitting = false;
  if (status == napi_pending_exception)
    loop_report_exception(env);
}

static void on_poll(uv_poll_t *handle, int status, int events);

static void set_events(struct connection *connection, int events) {
  struct poll *poll = connection->poll;
  if (poll->events == events)
    return;
  poll->events = events;
  if (events == 0)
    uv_poll_stop(&poll->handle);
  else
    uv_poll_start(&poll->handle, events, on_poll);
}

/* Whether what the peer sends is wanted. One that asks for answers and does not
 * take them is not listened to until it does: they would fill the memory. */
static bool may_read(const struct connection *connection) {
  const uint8_t *data = NULL;
  return connection->reading && !connection->ended && !connection->failed &&
         etls_engine_output(connection->engine, &data) <= UNREAD_ANSWERS_MAX;
}

void loop_update(struct connection *connection) {
  const uint8_t *data = NULL;
  int events = 0;
  if (connection->poll == NULL || connection->engine == NULL)
    return;
  if (may_read(connection))
    events |= UV_READABLE;
  if (!connection->failed && etls_engine_output(connection->engine, &data) > 0)
    events |= UV_WRITABLE;
  if (connection->write_errno != 0 && !connection->failed)
    events |= UV_READABLE; /* comes at once, and reports it */
  set_events(connection, events);
}

/* The raw socket was shut down before, and what cannot be sent are the engine's
 * own words: the rest of a handshake, an answer, close_notify. As in node, only
 * writes fail; what the peer makes of it, reading tells. */
static bool is_unheard(const struct connection *connection,
                       enum etls_status status,
                       const struct etls_error *error) {
  return status == ETLS_ERR_IO && !connection->spoken &&
         error->sys_errno == EPIPE;
}

/* Output -> descriptor. Returns EVENT_DRAIN or 0. */
static uint32_t flush(struct connection *connection) {
  const uint8_t *data = NULL;
  struct etls_error error;
  enum etls_status status;
  if (connection->poll == NULL || connection->engine == NULL)
    return 0;
  etls_error_init(&error);
  if (connection->transport.write_shut) /* the rest of a handshake, an alert */
    etls_engine_consume_output(connection->engine,
                               etls_engine_output(connection->engine, &data));
  status = etls_fd_transport_flush(&connection->transport, connection->engine,
                                   &error);
  connection->stalled = status == ETLS_WANT_OUTPUT;
  if (is_unheard(connection, status, &error)) {
    etls_engine_consume_output(connection->engine,
                               etls_engine_output(connection->engine, &data));
    status = ETLS_OK;
  } else if (status == ETLS_OK && connection->finishing) {
    status = etls_fd_transport_shut_write(&connection->transport, &error);
  }
  if (status == ETLS_OK)
    connection->spoken = false;
  if (status < 0) {
    /* The peer has closed. It may have said why, which is worth more: the
     * alert is read first, see report_write_error. */
    connection->write_errno = error.sys_errno;
    etls_engine_consume_output(connection->engine,
                               etls_engine_output(connection->engine, &data));
    return 0;
  }
  if (status != ETLS_OK || !connection->blocked)
    return 0;
  connection->blocked = false;
  return EVENT_DRAIN;
}

uint32_t loop_flush(struct connection *connection) {
  uint32_t events = flush(connection);
  loop_update(connection);
  return events;
}

void loop_flush_last(struct connection *connection) {
  if (connection->accepted ||
      etls_engine_state(connection->engine) == ETLS_STATE_FAILED)
    (void)loop_flush(connection);
}

void loop_flush_all(struct binding *binding) {
  struct connection *connection = binding->connections;
  for (; connection != NULL; connection = connection->next)
    loop_flush_last(connection);
}

/* Flushes, and lets JavaScript fill the room that this made, but only so
 * often: another wake-up comes soon, and others want theirs. */
static void flush_and_emit(struct connection *connection) {
  for (int round = 0; round < FLUSH_ROUNDS; round++) {
    uint32_t events = flush(connection);
    if (events == 0)
      return;
    emit(connection, events);
  }
}

/* Delivers all that the fed input yields. */
static void pump_and_emit(struct connection *connection) {
  uint32_t events = 0;
  do {
    const bool slab_asked_for = (events & EVENT_SLAB) != 0;
    if (connection->engine == NULL)
      return;
    /* After the handshake, plaintext waits for JavaScript to want it. */
    if (connection->secured && !connection->reading)
      return;
    events = connection_pump(connection);
    /* JavaScript has none, or does not run any more: a thread that ends. */
    if (slab_asked_for && (events & EVENT_SLAB) != 0)
      events = connection_fail(connection, ETLS_ERR_MEMORY, 0, NULL);
    /* In turns of their own, as node delivers them: what the data set in
     * motion comes before the end. */
    emit(connection, events & ~(uint32_t)(EVENT_END | EVENT_ERROR));
    if (connection->engine != NULL)
      emit(connection, events & (uint32_t)(EVENT_END | EVENT_ERROR));
  } while ((events & EVENT_MORE) != 0);
}

static void read_some(struct connection *connection) {
  struct binding *binding = connection->binding;
  size_t budget = READ_BUDGET;
  while (connection->engine != NULL && may_read(connection) && budget > 0) {
    size_t n = 0;
    enum etls_status status;
    etls_error_init(&binding->error);
    status = etls_fd_transport_read(&connection->transport, connection->engine,
                                    binding->scratch, SCRATCH_SIZE, &n,
                                    &binding->error);
    if (status == ETLS_WANT_INPUT)
      return;
    if (status < 0) {
      emit(connection,
           connection_fail(connection, status, binding->error.sys_errno,
                           binding->error.syscall));
      return;
    }
    pump_and_emit(connection);
    if (connection->engine == NULL)
      return;
    /* The scratch buffer is the next connection's. */
    if (etls_engine_keep_input(connection->engine) < 0) {
      emit(connection, connection_fail(connection, ETLS_ERR_MEMORY, 0, NULL));
      return;
    }
    if (n < SCRATCH_SIZE)
      return; /* the kernel has no more */
    budget -= n < budget ? n : budget;
  }
}

static void report_write_error(struct connection *connection) {
  if (connection->engine != NULL && connection->write_errno != 0)
    emit(connection, connection_fail(connection, ETLS_ERR_IO,
                                     connection->write_errno, "write"));
}

static void read_lingering(struct poll *poll, int status);

static void on_poll(uv_poll_t *handle, int status, int events) {
  struct poll *poll = handle->data;
  struct connection *connection = poll->connection;
  napi_env env = poll->binding->env;
  napi_handle_scope scope = NULL;
  if (poll->linger != NULL)
    read_lingering(poll, status);
  if (connection == NULL || napi_open_handle_scope(env, &scope) != napi_ok)
    return;
  connection_pin(connection);
  if (status < 0) {
    /* The descriptor is in error, and libuv has stopped polling. There may be
     * data in front of it: let read() say, until it says what is wrong. */
    poll->events = 0;
    events = UV_READABLE | UV_WRITABLE;
  }
  if ((events & UV_READABLE) != 0)
    read_some(connection);
  /* What waited, what JavaScript wrote just now, and the engine's answers. */
  flush_and_emit(connection);
  report_write_error(connection);
  loop_update(connection);
  connection_unpin(connection);
  napi_close_handle_scope(env, scope);
}

/* Releases what JavaScript's side of an attached connection holds. */
static void drop_owner(struct connection *connection) {
  napi_env env = connection->binding->env;
  if (connection->async != NULL)
    napi_async_destroy(env, connection->async);
  connection->async = NULL;
  if (connection->owner_ref != NULL)
    napi_delete_reference(env, connection->owner_ref);
  connection->owner_ref = NULL;
}

/* Runs the init hooks of async_hooks: the connection may be closed
 * afterwards. */
static int set_owner(struct connection *connection, napi_value owner) {
  napi_env env = connection->binding->env;
  napi_value name = args_new_string(env, "EAGERTLS");
  if (name == NULL ||
      napi_create_reference(env, owner, 1, &connection->owner_ref) != napi_ok ||
      napi_async_init(env, owner, name, &connection->async) != napi_ok)
    return UV_ENOMEM;
  return connection->engine == NULL ? UV_ECANCELED : 0;
}

int loop_attach(struct connection *connection, napi_value owner, int fd) {
  struct binding *binding = connection->binding;
  struct uv_loop_s *loop = NULL;
  struct poll *poll = NULL;
  int result = UV_ENOMEM;
  /* Or it is about to be: this is a hook that runs in set_owner. */
  if (connection->transport.fd != -1)
    return UV_EALREADY;
  poll = OPENSSL_zalloc(sizeof *poll);
  if (poll == NULL || napi_get_uv_event_loop(binding->env, &loop) != napi_ok)
    goto fail;
  /* Before any hook runs, which may close fd and open another by its number. */
  etls_error_init(&binding->error);
  if (etls_fd_transport_open(&connection->transport, fd, &binding->error) !=
      ETLS_OK) {
    result = binding->error.sys_errno == 0 ? UV_EIO : -binding->error.sys_errno;
    goto fail;
  }
  result = set_owner(connection, owner);
  if (result != 0)
    goto fail;
  result = uv_poll_init(loop, &poll->handle, connection->transport.fd);
  if (result != 0)
    goto fail;
  /* From here on the handle is libuv's until its close callback. */
  poll->handle.data = poll;
  poll->binding = binding;
  poll->connection = connection;
  connection->poll = poll;
  binding->open_polls++;
  return 0;
fail:
  drop_owner(connection);
  etls_fd_transport_close(&connection->transport);
  OPENSSL_free(poll);
  return result;
}

static void finish_cleanup(struct binding *binding) {
  napi_async_cleanup_hook_handle handle = binding->cleanup;
  if (!binding->exiting || binding->open_polls > 0 ||
      binding->open_timers > 0 || handle == NULL)
    return;
  binding->cleanup = NULL;
  napi_remove_async_cleanup_hook(handle);
}

static void on_close(uv_handle_t *handle) {
  struct poll *poll = handle->data;
  struct binding *binding = poll->binding;
  OPENSSL_free(poll);
  binding->open_polls--;
  finish_cleanup(binding);
}

/* uv_close stops the poll, after which the descriptor may go at once. */
static void close_poll(struct poll *poll, struct etls_fd_transport *transport) {
  uv_close((uv_handle_t *)&poll->handle, on_close);
  etls_fd_transport_close(transport);
}

static void on_timer_close(uv_handle_t *handle) {
  struct lingering *linger = handle->data;
  struct binding *binding = linger->binding;
  OPENSSL_free(linger);
  binding->open_timers--;
  finish_cleanup(binding);
}

static void end_linger(struct lingering *linger) {
  if (linger->prev != NULL)
    linger->prev->next = linger->next;
  else
    linger->binding->lingering = linger->next;
  if (linger->next != NULL)
    linger->next->prev = linger->prev;
  linger->poll->linger = NULL;
  close_poll(linger->poll, &linger->transport);
  uv_close((uv_handle_t *)&linger->timer, on_timer_close);
}

static void on_timer(uv_timer_t *timer) {
  end_linger(timer->data);
}

static void read_lingering(struct poll *poll, int status) {
  struct lingering *linger = poll->linger;
  enum etls_status got = ETLS_OK;
  for (int n = 0; n < READ_BUDGET && got == ETLS_OK; n += SCRATCH_SIZE)
    got = etls_fd_transport_discard(&linger->transport, poll->binding->scratch,
                                    SCRATCH_SIZE);
  if (got == ETLS_END || got < 0 || status < 0)
    end_linger(linger);
}

static bool should_linger(const struct connection *connection) {
  return connection->transport.write_shut &&
         !connection->transport.read_ended && !connection->ended &&
         !connection->failed && !connection->reset &&
         !connection->binding->exiting &&
         etls_fd_transport_unsent(&connection->transport);
}

/* Takes the poll handle and the descriptor over; false: nothing has changed. */
static bool start_linger(struct connection *connection) {
  struct binding *binding = connection->binding;
  struct poll *poll = connection->poll;
  struct lingering *linger = OPENSSL_zalloc(sizeof *linger);
  if (linger == NULL || uv_timer_init(poll->handle.loop, &linger->timer) != 0) {
    OPENSSL_free(linger);
    return false;
  }
  linger->timer.data = linger;
  linger->binding = binding;
  linger->poll = poll;
  linger->transport = connection->transport;
  connection->transport.fd = -1;
  poll->linger = linger;
  linger->next = binding->lingering;
  if (linger->next != NULL)
    linger->next->prev = linger;
  binding->lingering = linger;
  binding->open_timers++;
  uv_unref((uv_handle_t *)&poll->handle);
  uv_unref((uv_handle_t *)&linger->timer);
  if (uv_poll_start(&poll->handle, UV_READABLE, on_poll) != 0 ||
      uv_timer_start(&linger->timer, on_timer, LINGER_MS, 0) != 0)
    end_linger(linger);
  return true;
}

void loop_detach(struct connection *connection) {
  struct poll *poll = connection->poll;
  if (poll == NULL)
    return;
  poll->connection = NULL;
  if (!should_linger(connection) || !start_linger(connection))
    close_poll(poll, &connection->transport);
  connection->poll = NULL;
  drop_owner(connection);
}

void loop_ref(struct connection *connection, bool ref) {
  if (connection->poll == NULL)
    return;
  if (ref)
    uv_ref((uv_handle_t *)&connection->poll->handle);
  else
    uv_unref((uv_handle_t *)&connection->poll->handle);
}

void loop_cleanup(napi_async_cleanup_hook_handle handle, void *data) {
  struct binding *binding = data;
  binding->exiting = true;
  binding->cleanup = handle;
  /* One that is deferred (exit() in a PSK callback) stays. */
  for (struct connection *next = NULL, *one = binding->connections; one != NULL;
       one = next) {
    next = one->next;
    connection_close(one);
  }
  while (binding->lingering != NULL)
    end_linger(binding->lingering);
  finish_cleanup(binding);
}
