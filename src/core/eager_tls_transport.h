/*
 * eager_tls_transport.h - the part of eager_tls.h about descriptors; included
 * by it, and by nobody else. Conventions there.
 */
#ifndef EAGER_TLS_TRANSPORT_H
#define EAGER_TLS_TRANSPORT_H

/* ---- descriptor transport ---------------------------------------------- */

/*
 * Moves bytes between a non-blocking stream descriptor and an engine. Owns
 * the descriptor, borrows the engine. Handles EINTR, partial writes and
 * MSG_NOSIGNAL; counts bytes in 64 bits.
 */
struct etls_fd_transport {
  int fd; /* -1: closed */
  uint64_t bytes_read;
  uint64_t bytes_written;
  bool read_ended; /* read() returned 0 */
  bool write_shut; /* SHUT_WR done */
};

/* dup()s fd with FD_CLOEXEC. ETLS_ERR_IO: e.g. EMFILE. */
ETLS_MUST_USE enum etls_status
etls_fd_transport_open(struct etls_fd_transport *t, int fd,
                       struct etls_error *error);
void etls_fd_transport_close(struct etls_fd_transport *t);
/*
 * One read() into scratch and feed of it. ETLS_OK: *n bytes were fed (lent
 * from scratch). ETLS_WANT_INPUT: nothing there. ETLS_END: the peer's FIN (the
 * engine was told). ETLS_ERR_IO.
 */
ETLS_MUST_USE enum etls_status
etls_fd_transport_read(struct etls_fd_transport *t, struct etls_engine *engine,
                       uint8_t *scratch, size_t cap, size_t *n,
                       struct etls_error *error);
/* Writes the engine's output. ETLS_OK: all of it. ETLS_WANT_OUTPUT: the
 * kernel is full, the rest stays with the engine. ETLS_ERR_IO. */
ETLS_MUST_USE enum etls_status
etls_fd_transport_flush(struct etls_fd_transport *t, struct etls_engine *engine,
                        struct etls_error *error);
/* The peer's TCP port; -1: it has none, or cannot be told. */
int etls_fd_transport_remote_port(const struct etls_fd_transport *t);
/* Whether the kernel still holds bytes, or a FIN, of which the peer has not
 * said that it has them. False where that cannot be asked. */
bool etls_fd_transport_unsent(const struct etls_fd_transport *t);
/* One read() of what nobody wants any more. ETLS_OK: there may be more.
 * ETLS_WANT_INPUT, ETLS_END; ETLS_ERR_IO. */
ETLS_MUST_USE enum etls_status
etls_fd_transport_discard(struct etls_fd_transport *t, uint8_t *scratch,
                          size_t cap);
/* shutdown(SHUT_WR), once, when nothing is pending. ENOTCONN is success. */
ETLS_MUST_USE enum etls_status
etls_fd_transport_shut_write(struct etls_fd_transport *t,
                             struct etls_error *error);

#endif
