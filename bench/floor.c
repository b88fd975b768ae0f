/*
 * floor.c - the least that a TLS client costs with the system's OpenSSL: one
 * blocking socket, one SSL_CTX, no event loop, no runtime.
 *
 *   floor version
 *   floor CASE [full|resumed] CA CERT KEY PORT COUNT
 *
 * CASE: upgrade, round-trip, download, upload (1 MB writes), upload-small
 * (1 KB writes). CERT and KEY may be "-". Prints one line of JSON: CPU and wall
 * microseconds per operation, or { "error": ... }. What is counted and checked
 * is what bench/lib and bench/cases do in JavaScript.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#define MB         (1u << 20)
#define DIGEST_HEX 64

static const char ping[] = "echo: thirty-two bytes are enough";
static SSL_CTX *ctx;
static SSL_SESSION *ticket;
static unsigned short port;
static int resume;
static unsigned char *pattern;

_Noreturn static void die(const char *what) {
  char text[200] = "";
  unsigned long code = ERR_peek_last_error();
  if (code != 0)
    ERR_error_string_n(code, text, sizeof text);
  printf("{\"error\":\"floor: %s %s\"}\n", what, text);
  exit(1);
}

static double cpu_us(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static double wall_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int on_new_session(SSL *ssl, SSL_SESSION *session) {
  (void)ssl;
  SSL_SESSION_free(ticket);
  ticket = session;
  return 1;
}

static void setup(const char *ca, const char *cert, const char *key) {
  ctx = SSL_CTX_new(TLS_client_method());
  if (ctx == NULL || SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1)
    die("CA");
  if (strcmp(cert, "-") != 0 &&
      (SSL_CTX_use_certificate_file(ctx, cert, SSL_FILETYPE_PEM) != 1 ||
       SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1))
    die("client certificate");
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_read_ahead(ctx, 1);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                          SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, on_new_session);
}

static int tcp_connect(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  int one = 1;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
    die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static SSL *upgrade(int fd) {
  SSL *ssl = SSL_new(ctx);
  SSL_SESSION *offered = NULL;
  if (ssl == NULL || SSL_set_fd(ssl, fd) != 1 ||
      SSL_set1_host(ssl, "localhost") != 1 ||
      SSL_set_tlsext_host_name(ssl, "localhost") != 1)
    die("SSL_new");
  if (resume && ticket != NULL) {
    offered = SSL_SESSION_dup(ticket);
    if (offered == NULL || SSL_set_session(ssl, offered) != 1)
      die("session");
  }
  if (SSL_connect(ssl) != 1)
    die("SSL_connect");
  if (SSL_get_verify_result(ssl) != X509_V_OK)
    die("not authorized");
  if (SSL_session_reused(ssl) != (offered != NULL))
    die("resumption is not as intended");
  SSL_SESSION_free(offered);
  return ssl;
}

static void write_all(SSL *ssl, const void *data, size_t length) {
  size_t written;
  if (SSL_write_ex(ssl, data, length, &written) != 1 || written != length)
    die("write");
}

static void round_trip(SSL *ssl) {
  char answer[sizeof ping];
  size_t received = 0;
  write_all(ssl, ping, sizeof ping - 1);
  while (received < sizeof ping - 1) {
    size_t n;
    if (SSL_read_ex(ssl, answer + received, sizeof answer - received, &n) != 1)
      die("read");
    received += n;
  }
  if (memcmp(answer, ping, sizeof ping - 1) != 0)
    die("the echo differs");
}

/* As Node's end(): close_notify and FIN, then wait for the server's. */
static void finish(SSL *ssl, int fd) {
  char rest[256];
  SSL_shutdown(ssl);
  shutdown(fd, SHUT_WR);
  while (read(fd, rest, sizeof rest) > 0)
    continue;
  SSL_free(ssl);
  close(fd);
}

static void upgrades(long count) {
  for (long i = 0; i < count; i++) {
    int fd = tcp_connect();
    SSL *ssl = upgrade(fd);
    round_trip(ssl);
    finish(ssl, fd);
  }
}

static void download(SSL *ssl, size_t left) {
  static unsigned char buffer[64 * 1024];
  char request[32];
  int length = snprintf(request, sizeof request, "d%zu\n", left);
  write_all(ssl, request, (size_t)length);
  while (left > 0) {
    size_t n;
    if (SSL_read_ex(ssl, buffer, sizeof buffer, &n) != 1)
      die("read");
    if (n > left)
      die("too many bytes");
    left -= n;
  }
}

static void pattern_digest(size_t megabytes, char hex[DIGEST_HEX + 1]) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_MD_CTX *md = EVP_MD_CTX_new();
  EVP_DigestInit_ex(md, EVP_sha256(), NULL);
  for (size_t i = 0; i < megabytes; i++)
    EVP_DigestUpdate(md, pattern, MB);
  EVP_DigestFinal_ex(md, digest, &length);
  EVP_MD_CTX_free(md);
  for (unsigned int i = 0; i < length; i++)
    snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* Writes and leaves the server's answer, the digest, in `answer`. */
static void upload(SSL *ssl, size_t megabytes, size_t size, char *answer) {
  char request[32];
  int length = snprintf(request, sizeof request, "u%zu\n", megabytes * MB);
  size_t received = 0;
  write_all(ssl, request, (size_t)length);
  for (size_t sent = 0; sent < megabytes * MB; sent += size)
    write_all(ssl, pattern + sent % MB, size);
  while (received < DIGEST_HEX) {
    size_t n;
    if (SSL_read_ex(ssl, answer + received, DIGEST_HEX - received, &n) != 1)
      die("read");
    received += n;
  }
  answer[DIGEST_HEX] = '\0';
}

static void make_pattern(void) {
  pattern = malloc(MB);
  if (pattern == NULL)
    die("memory");
  for (uint32_t i = 0; i < MB; i += 4) {
    uint32_t word = (i + 1) * 2654435761u;
    for (int k = 0; k < 4; k++)
      pattern[i + (uint32_t)k] = (unsigned char)(word >> (8 * k));
  }
}

static void report(double cpu, double wall, long count) {
  printf("{\"cpu\":%.3f,\"wall\":%.3f}\n", cpu / (double)count,
         wall / (double)count);
}

static void run_upgrades(long count) {
  double cpu, wall;
  upgrades(count / 3 + 2);
  cpu = cpu_us();
  wall = wall_us();
  upgrades(count);
  report(cpu_us() - cpu, wall_us() - wall, count);
}

static void run_connection(const char *name, long count) {
  char answer[DIGEST_HEX + 1] = "", expected[DIGEST_HEX + 1] = "";
  int fd = tcp_connect();
  SSL *ssl = upgrade(fd);
  double cpu, wall;
  for (long i = 0; i < 10; i++)
    round_trip(ssl);
  cpu = cpu_us();
  wall = wall_us();
  if (strcmp(name, "round-trip") == 0) {
    for (long i = 0; i < count; i++)
      round_trip(ssl);
  } else if (strcmp(name, "download") == 0) {
    download(ssl, (size_t)count * MB);
  } else {
    size_t size = strcmp(name, "upload") == 0 ? MB : 1024;
    upload(ssl, (size_t)count, size, answer);
  }
  report(cpu_us() - cpu, wall_us() - wall, count);
  finish(ssl, fd);
  if (answer[0] != '\0') {
    pattern_digest((size_t)count, expected);
    if (strcmp(answer, expected) != 0)
      die("what arrived is not what was sent");
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "version") == 0) {
    printf("{\"name\":\"c\",\"version\":\"%s\",\"openssl\":\"%s\"}\n",
           __VERSION__, OpenSSL_version(OPENSSL_VERSION_STRING));
    return 0;
  }
  if (argc != 8)
    die("usage");
  resume = strcmp(argv[2], "resumed") == 0;
  port = (unsigned short)strtoul(argv[6], NULL, 10);
  make_pattern();
  setup(argv[3], argv[4], argv[5]);
  if (strcmp(argv[1], "upgrade") == 0)
    run_upgrades(strtol(argv[7], NULL, 10));
  else
    run_connection(argv[1], strtol(argv[7], NULL, 10));
  SSL_SESSION_free(ticket);
  SSL_CTX_free(ctx);
  free(pattern);
  return 0;
}
