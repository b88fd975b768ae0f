/*
 * Tests of fd_transport.c over socket pairs.
 */
#include "tls_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A duo whose engine sits on one end of a socket pair. */
struct wired {
  struct duo duo;
  struct etls_fd_transport t;
  int fds[2]; /* [0] is the raw socket of ours, [1] the server's */
};

static struct wired wired_new(int version) {
  struct wired w = {.duo = duo_new(version)};
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, w.fds), 0);
  assert_int_equal(fcntl(w.fds[1], F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(etls_fd_transport_open(&w.t, w.fds[0], &w.duo.error),
                   ETLS_OK);
  assert_int_not_equal(w.t.fd, w.fds[0]);
  assert_true((fcntl(w.t.fd, F_GETFD) & FD_CLOEXEC) != 0);
  return w;
}

static void wired_free(struct wired *w) {
  etls_fd_transport_close(&w->t);
  assert_int_equal(w->t.fd, -1);
  etls_fd_transport_close(&w->t); /* no harm */
  close(w->fds[0]);
  if (w->fds[1] != -1)
    close(w->fds[1]);
  duo_free(&w->duo);
}

/* The server's side: everything from the socket, everything to it. */
static void serve(struct wired *w) {
  uint8_t buffer[20000];
  ssize_t n = 0;
  while ((n = read(w->fds[1], buffer, sizeof(buffer))) > 0)
    BIO_write(w->duo.peer->in, buffer, (int)n);
  tls_peer_step(w->duo.peer, w->duo.engine);
  struct bytes *wire = &w->duo.peer->wire;
  if (wire->len > 0) {
    n = write(w->fds[1], wire->data, wire->len);
    if (n > 0)
      bytes_drop(wire, (size_t)n);
  }
}

static void wired_open(struct wired *w) {
  uint8_t scratch[4096];
  size_t n = 0;
  for (;;) {
    enum etls_status status = x_handshake(w->duo.engine, &w->duo.error);
    assert_int_equal(
        etls_fd_transport_flush(&w->t, w->duo.engine, &w->duo.error), ETLS_OK);
    serve(w);
    if (status == ETLS_OK)
      break;
    assert_int_equal(status, ETLS_WANT_INPUT);
    status = etls_fd_transport_read(&w->t, w->duo.engine, scratch,
                                    sizeof(scratch), &n, &w->duo.error);
    assert_true(status == ETLS_OK ? n > 0 : status == ETLS_WANT_INPUT);
  }
}

static void a_connection_works_over_a_descriptor(void **state) {
  (void)state;
  for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
    struct wired w = wired_new(version);
    wired_open(&w);
    size_t n = 0;
    assert_int_equal(x_write(w.duo.engine, "hello", 5, &n, &w.duo.error),
                     ETLS_OK);
    assert_int_equal(etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error),
                     ETLS_OK);
    serve(&w);
    assert_int_equal(w.duo.peer->received.len, 5);
    tls_peer_write(w.duo.peer, "world", 5);
    serve(&w);
    uint8_t scratch[65536];
    uint8_t text[100];
    while (etls_fd_transport_read(&w.t, w.duo.engine, scratch, sizeof(scratch),
                                  &n, &w.duo.error) == ETLS_OK)
      continue;
    assert_int_equal(x_read(w.duo.engine, text, sizeof(text), &n, &w.duo.error),
                     ETLS_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(text, "world", 5);
    assert_int_equal(etls_fd_transport_read(&w.t, w.duo.engine, scratch,
                                            sizeof(scratch), &n, &w.duo.error),
                     ETLS_WANT_INPUT);
    assert_int_equal(n, 0);
    assert_true(w.t.bytes_read > 500 && w.t.bytes_written > 200);
    wired_free(&w);
  }
}

static int listen_on(int family, struct sockaddr *address, socklen_t len) {
  int fd = socket(family, SOCK_STREAM, 0);
  if (fd == -1 || bind(fd, address, len) != 0 || listen(fd, 1) != 0 ||
      getsockname(fd, address, &len) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static int remote_port_of(int fd) {
  struct etls_error error;
  struct etls_fd_transport t;
  etls_error_init(&error);
  assert_int_equal(etls_fd_transport_open(&t, fd, &error), ETLS_OK);
  int port = etls_fd_transport_remote_port(&t);
  etls_fd_transport_close(&t);
  assert_int_equal(etls_fd_transport_remote_port(&t), -1);
  return port;
}

static void the_peers_port_is_told(void **state) {
  (void)state;
  struct sockaddr_in v4 = {.sin_family = AF_INET,
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                            .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int server = listen_on(AF_INET, (struct sockaddr *)&v4, sizeof(v4));
  int client = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(remote_port_of(client), -1); /* not connected */
  assert_int_equal(connect(client, (struct sockaddr *)&v4, sizeof(v4)), 0);
  assert_int_equal(remote_port_of(client), ntohs(v4.sin_port));
  close(client);
  close(server);
  server = listen_on(AF_INET6, (struct sockaddr *)&v6, sizeof(v6));
  if (server != -1) { /* this machine has IPv6 */
    client = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&v6, sizeof(v6)), 0);
    assert_int_equal(remote_port_of(client), ntohs(v6.sin6_port));
    close(client);
    close(server);
  }
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  assert_int_equal(remote_port_of(pair[0]), -1);
  close(pair[0]);
  close(pair[1]);
}

static void one_call_is_one_read(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  uint8_t bytes[1000] = {0};
  uint8_t scratch[300];
  size_t n = 0;
  assert_int_equal(write(w.fds[1], bytes, sizeof(bytes)), 1000);
  for (size_t i = 1; i <= 3; i++) {
    assert_int_equal(etls_fd_transport_read(&w.t, w.duo.engine, scratch,
                                            sizeof(scratch), &n, &w.duo.error),
                     ETLS_OK);
    assert_int_equal(n, 300);
    assert_int_equal(w.t.bytes_read, 300 * i);
    /* What was lent before is kept before the scratch is written again. */
    assert_int_equal(etls_engine_input_pending(w.duo.engine), 300 * i);
    memset(scratch, 0xff, sizeof(scratch));
  }
  wired_free(&w);
}

static void the_peers_fin_is_an_end(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  wired_open(&w);
  tls_peer_write(w.duo.peer, "last", 4);
  serve(&w);
  assert_int_equal(shutdown(w.fds[1], SHUT_WR), 0);
  uint8_t scratch[65536];
  uint8_t text[100];
  size_t n = 0;
  enum etls_status status = ETLS_OK;
  while (status == ETLS_OK)
    status = etls_fd_transport_read(&w.t, w.duo.engine, scratch,
                                    sizeof(scratch), &n, &w.duo.error);
  assert_int_equal(status, ETLS_END);
  assert_true(w.t.read_ended);
  assert_int_equal(etls_fd_transport_read(&w.t, w.duo.engine, scratch,
                                          sizeof(scratch), &n, &w.duo.error),
                   ETLS_END);
  assert_int_equal(x_read(w.duo.engine, text, sizeof(text), &n, &w.duo.error),
                   ETLS_OK);
  assert_int_equal(n, 4);
  assert_int_equal(x_read(w.duo.engine, text, sizeof(text), &n, &w.duo.error),
                   ETLS_END);
  wired_free(&w);
}

static void a_full_kernel_leaves_the_rest_with_the_engine(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  wired_open(&w);
  size_t size = 4000000;
  uint8_t *data = malloc(size);
  assert_non_null(data);
  for (size_t i = 0; i < size; i++)
    data[i] = (uint8_t)(i % 251);
  size_t sent = 0;
  size_t full = 0;
  const uint8_t *out = NULL;
  while (sent < size || etls_engine_output(w.duo.engine, &out) > 0) {
    size_t n = 0;
    enum etls_status status =
        x_write(w.duo.engine, data + sent, size - sent, &n, &w.duo.error);
    assert_true(status == ETLS_OK || status == ETLS_WANT_OUTPUT);
    sent += n;
    status = etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error);
    assert_int_equal(status, etls_engine_output(w.duo.engine, &out) > 0
                                 ? ETLS_WANT_OUTPUT
                                 : ETLS_OK);
    full += status == ETLS_WANT_OUTPUT;
    /* Not tls_peer_step: that would take the output past the kernel. */
    uint8_t buffer[20000];
    ssize_t got = 0;
    while ((got = read(w.fds[1], buffer, sizeof(buffer))) > 0)
      BIO_write(w.duo.peer->in, buffer, (int)got);
  }
  assert_true(full > 2);
  tls_peer_step(w.duo.peer, w.duo.engine);
  assert_int_equal(w.duo.peer->received.len, size);
  assert_memory_equal(w.duo.peer->received.data, data, size);
  free(data);
  wired_free(&w);
}

static void writing_to_a_closed_peer_is_an_error_and_no_signal(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  wired_open(&w);
  close(w.fds[1]);
  w.fds[1] = -1;
  size_t n = 0;
  assert_int_equal(x_write(w.duo.engine, "x", 1, &n, &w.duo.error), ETLS_OK);
  assert_int_equal(etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error),
                   ETLS_ERR_IO);
  assert_int_equal(w.duo.error.sys_errno, EPIPE);
  assert_string_equal(w.duo.error.syscall, "write");
  wired_free(&w);
}

static void a_reset_is_an_error_of_read(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  wired_open(&w);
  /* On a Unix socket, closing with unread data resets the other side. */
  size_t n = 0;
  assert_int_equal(x_write(w.duo.engine, "x", 1, &n, &w.duo.error), ETLS_OK);
  assert_int_equal(etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error),
                   ETLS_OK);
  close(w.fds[1]);
  w.fds[1] = -1;
  uint8_t scratch[65536];
  enum etls_status status = ETLS_OK;
  while (status == ETLS_OK)
    status = etls_fd_transport_read(&w.t, w.duo.engine, scratch,
                                    sizeof(scratch), &n, &w.duo.error);
  assert_int_equal(status, ETLS_ERR_IO);
  assert_int_equal(w.duo.error.sys_errno, ECONNRESET);
  assert_string_equal(w.duo.error.syscall, "read");
  wired_free(&w);
}

static void shutting_down_happens_once(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  uint8_t byte = 0;
  assert_int_equal(etls_fd_transport_shut_write(&w.t, &w.duo.error), ETLS_OK);
  assert_true(w.t.write_shut);
  assert_int_equal(etls_fd_transport_shut_write(&w.t, &w.duo.error), ETLS_OK);
  assert_int_equal(read(w.fds[1], &byte, 1), 0);
  assert_int_equal(x_handshake(w.duo.engine, &w.duo.error), ETLS_WANT_INPUT);
  assert_int_equal(etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error),
                   ETLS_ERR_USAGE);
  wired_free(&w);
}

static void what_the_peer_has_not_taken_is_unsent(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  uint8_t bytes[64];
  size_t n = 0;
  wired_open(&w);
  assert_false(etls_fd_transport_unsent(&w.t));
  assert_int_equal(x_write(w.duo.engine, "x", 1, &n, &w.duo.error), ETLS_OK);
  assert_int_equal(etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error),
                   ETLS_OK);
#ifdef __linux__
  assert_true(etls_fd_transport_unsent(&w.t));
#endif
  assert_true(read(w.fds[1], bytes, sizeof(bytes)) > 0);
  assert_false(etls_fd_transport_unsent(&w.t));
  etls_fd_transport_close(&w.t);
  assert_false(etls_fd_transport_unsent(&w.t));
  wired_free(&w);
}

static void discarding_reads_until_the_end(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  uint8_t scratch[4];
  size_t n = sizeof(scratch);
  assert_int_equal(write(w.fds[1], "abcdef", 6), 6);
  assert_int_equal(etls_fd_transport_discard(&w.t, scratch, n), ETLS_OK);
  assert_int_equal(etls_fd_transport_discard(&w.t, scratch, n), ETLS_OK);
  assert_int_equal(etls_fd_transport_discard(&w.t, scratch, n),
                   ETLS_WANT_INPUT);
  assert_false(w.t.read_ended);
  close(w.fds[1]);
  w.fds[1] = -1;
  assert_int_equal(etls_fd_transport_discard(&w.t, scratch, n), ETLS_END);
  assert_true(w.t.read_ended);
  assert_int_equal(etls_engine_input_pending(w.duo.engine), 0);
  etls_fd_transport_close(&w.t);
  assert_int_equal(etls_fd_transport_discard(&w.t, scratch, n), ETLS_ERR_IO);
  wired_free(&w);
}

static void an_unconnected_socket_shuts_down_well(void **state) {
  (void)state;
  struct etls_fd_transport t;
  struct etls_error error;
  etls_error_init(&error);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(fd >= 0);
  assert_int_equal(etls_fd_transport_open(&t, fd, &error), ETLS_OK);
  close(fd);
  assert_int_equal(etls_fd_transport_shut_write(&t, &error), ETLS_OK);
  etls_fd_transport_close(&t);
  assert_int_equal(etls_fd_transport_shut_write(&t, &error), ETLS_OK);
  assert_int_equal(error.status, ETLS_OK);
}

static void without_descriptors_it_does_not_open(void **state) {
  (void)state;
  struct etls_fd_transport t;
  struct etls_error error;
  struct rlimit old;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  struct rlimit none = {0, old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  etls_error_init(&error);
  enum etls_status status = etls_fd_transport_open(&t, 0, &error);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_int_equal(status, ETLS_ERR_IO);
  assert_true(error.sys_errno == EMFILE || error.sys_errno == EINVAL);
  assert_int_equal(t.fd, -1);
  etls_error_init(&error);
  assert_int_equal(etls_fd_transport_open(&t, -1, &error), ETLS_ERR_IO);
  assert_int_equal(error.sys_errno, EBADF);
}

static void a_closed_transport_refuses(void **state) {
  (void)state;
  struct wired w = wired_new(TLS1_3_VERSION);
  etls_fd_transport_close(&w.t);
  uint8_t scratch[10];
  size_t n = 0;
  assert_int_equal(
      etls_fd_transport_read(&w.t, w.duo.engine, scratch, 10, &n, &w.duo.error),
      ETLS_ERR_USAGE);
  assert_int_equal(etls_fd_transport_flush(&w.t, w.duo.engine, &w.duo.error),
                   ETLS_OK); /* nothing to send */
  wired_free(&w);
}

int main(void) {
  support_init();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_connection_works_over_a_descriptor),
      cmocka_unit_test(the_peers_port_is_told),
      cmocka_unit_test(one_call_is_one_read),
      cmocka_unit_test(the_peers_fin_is_an_end),
      cmocka_unit_test(a_full_kernel_leaves_the_rest_with_the_engine),
      cmocka_unit_test(writing_to_a_closed_peer_is_an_error_and_no_signal),
      cmocka_unit_test(a_reset_is_an_error_of_read),
      cmocka_unit_test(shutting_down_happens_once),
      cmocka_unit_test(what_the_peer_has_not_taken_is_unsent),
      cmocka_unit_test(discarding_reads_until_the_end),
      cmocka_unit_test(an_unconnected_socket_shuts_down_well),
      cmocka_unit_test(without_descriptors_it_does_not_open),
      cmocka_unit_test(a_closed_transport_refuses),
  };
  return cmocka_run_group_tests_name("fd_transport", tests, NULL, NULL);
}
