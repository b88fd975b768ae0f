/*
 * fd_transport.c - the one place of the core that does I/O: single system
 * calls between a non-blocking stream socket and an engine.
 *
 * The descriptor is a duplicate and is owned; the socket behind it is shared
 * with whoever holds the original, so nothing here changes its flags. Each
 * call asks for non-blocking behaviour itself. Reading is one recv() per call,
 * so that the caller decides how much one connection may have per wake-up.
 *
 * Contracts are in eager_tls.h. Elsewhere than on POSIX systems the transport
 * cannot be opened.
 */
#include "eager_tls.h"

#include <errno.h>

#include "status.h"

#ifndef _WIN32

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/sockios.h>
#endif

#ifdef MSG_NOSIGNAL
#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)
#else
#define SEND_FLAGS MSG_DONTWAIT
#endif

enum etls_status etls_fd_transport_open(struct etls_fd_transport *t, int fd,
                                        struct etls_error *error) {
  *t = (struct etls_fd_transport){.fd = -1};
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy == -1)
    return etls_error_set_errno(error, "dup", errno);
#if !defined(MSG_NOSIGNAL) && defined(SO_NOSIGPIPE)
  int on = 1;
  (void)setsockopt(copy, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
  t->fd = copy;
  return ETLS_OK;
}

void etls_fd_transport_close(struct etls_fd_transport *t) {
  /* Not repeated after EINTR: Linux has closed it then. */
  if (t->fd != -1)
    (void)close(t->fd);
  t->fd = -1;
}

int etls_fd_transport_remote_port(const struct etls_fd_transport *t) {
  union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } peer = {.v6 = {0}};
  socklen_t len = sizeof(peer);
  if (t->fd == -1 || getpeername(t->fd, &peer.any, &len) != 0)
    return -1;
  if (peer.any.sa_family == AF_INET)
    return ntohs(peer.v4.sin_port);
  if (peer.any.sa_family == AF_INET6)
    return ntohs(peer.v6.sin6_port);
  return -1;
}

static bool would_block(int number) {
#if EAGAIN != EWOULDBLOCK
  if (number == EWOULDBLOCK)
    return true;
#endif
  return number == EAGAIN;
}

enum etls_status etls_fd_transport_read(struct etls_fd_transport *t,
                                        struct etls_engine *engine,
                                        uint8_t *scratch, size_t cap, size_t *n,
                                        struct etls_error *error) {
  *n = 0;
  if (t->fd == -1 || cap == 0)
    return etls_error_set(error, ETLS_ERR_USAGE, "The descriptor is closed");
  if (t->read_ended)
    return ETLS_END;
  /* What the engine has left may be lent from this very scratch. */
  if (etls_engine_keep_input(engine) != ETLS_OK)
    return etls_error_set_memory(error);
  ssize_t got = 0;
  do {
    got = recv(t->fd, scratch, cap, MSG_DONTWAIT);
  } while (got == -1 && errno == EINTR);
  if (got == -1)
    return would_block(errno) ? ETLS_WANT_INPUT
                              : etls_error_set_errno(error, "read", errno);
  if (got == 0) {
    t->read_ended = true;
    etls_engine_feed_end(engine);
    return ETLS_END;
  }
  *n = (size_t)got;
  t->bytes_read += *n;
  enum etls_status status = etls_engine_feed(engine, scratch, *n);
  return status < 0 ? etls_error_set(error, status, "Cannot feed the engine")
                    : ETLS_OK;
}

enum etls_status etls_fd_transport_flush(struct etls_fd_transport *t,
                                         struct etls_engine *engine,
                                         struct etls_error *error) {
  const uint8_t *data = NULL;
  size_t len = 0;
  while ((len = etls_engine_output(engine, &data)) > 0) {
    if (t->fd == -1 || t->write_shut)
      return etls_error_set(error, ETLS_ERR_USAGE, "The descriptor is closed");
    ssize_t put = send(t->fd, data, len, SEND_FLAGS);
    if (put == -1 && errno == EINTR)
      continue;
    if (put == -1)
      return would_block(errno) ? ETLS_WANT_OUTPUT
                                : etls_error_set_errno(error, "write", errno);
    t->bytes_written += (size_t)put;
    etls_engine_consume_output(engine, (size_t)put);
  }
  return ETLS_OK;
}

bool etls_fd_transport_unsent(const struct etls_fd_transport *t) {
  int count = 0;
#if defined(SIOCOUTQ)
  int rc = ioctl(t->fd, SIOCOUTQ, &count);
#elif defined(FIONWRITE)
  int rc = ioctl(t->fd, FIONWRITE, &count);
#elif defined(SO_NWRITE)
  socklen_t size = sizeof(count);
  int rc = getsockopt(t->fd, SOL_SOCKET, SO_NWRITE, &count, &size);
#else
  int rc = -1;
  (void)t;
#endif
  return rc == 0 && count > 0;
}

enum etls_status etls_fd_transport_discard(struct etls_fd_transport *t,
                                           uint8_t *scratch, size_t cap) {
  ssize_t got = 0;
  do {
    got = recv(t->fd, scratch, cap, MSG_DONTWAIT);
  } while (got == -1 && errno == EINTR);
  if (got == -1)
    return would_block(errno) ? ETLS_WANT_INPUT : ETLS_ERR_IO;
  t->read_ended = got == 0;
  return got == 0 ? ETLS_END : ETLS_OK;
}

enum etls_status etls_fd_transport_shut_write(struct etls_fd_transport *t,
                                              struct etls_error *error) {
  if (t->fd == -1 || t->write_shut)
    return ETLS_OK;
  if (shutdown(t->fd, SHUT_WR) == -1 && errno != ENOTCONN)
    return etls_error_set_errno(error, "shutdown", errno);
  t->write_shut = true;
  return ETLS_OK;
}

#else

enum etls_status etls_fd_transport_open(struct etls_fd_transport *t, int fd,
                                        struct etls_error *error) {
  (void)fd;
  *t = (struct etls_fd_transport){.fd = -1};
  return etls_error_set_errno(error, "dup", ENOSYS);
}

void etls_fd_transport_close(struct etls_fd_transport *t) {
  (void)t;
}

enum etls_status etls_fd_transport_read(struct etls_fd_transport *t,
                                        struct etls_engine *engine,
                                        uint8_t *scratch, size_t cap, size_t *n,
                                        struct etls_error *error) {
  (void)t;
  (void)engine;
  (void)scratch;
  (void)cap;
  *n = 0;
  return etls_error_set(error, ETLS_ERR_USAGE, "No descriptors here");
}

enum etls_status etls_fd_transport_flush(struct etls_fd_transport *t,
                                         struct etls_engine *engine,
                                         struct etls_error *error) {
  (void)t;
  (void)engine;
  return etls_error_set(error, ETLS_ERR_USAGE, "No descriptors here");
}

int etls_fd_transport_remote_port(const struct etls_fd_transport *t) {
  (void)t;
  return -1;
}

bool etls_fd_transport_unsent(const struct etls_fd_transport *t) {
  (void)t;
  return false;
}

enum etls_status etls_fd_transport_discard(struct etls_fd_transport *t,
                                           uint8_t *scratch, size_t cap) {
  (void)t;
  (void)scratch;
  (void)cap;
  return ETLS_ERR_IO;
}

enum etls_status etls_fd_transport_shut_write(struct etls_fd_transport *t,
                                              struct etls_error *error) {
  (void)t;
  return etls_error_set(error, ETLS_ERR_USAGE, "No descriptors here");
}

#endif
