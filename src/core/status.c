/*
 * status.c - names of status codes, and struct etls_error: a plain value that
 * is filled once (the first error wins) from our own text, from errno, or from
 * OpenSSL's error queue in the shapes that node gives its errors.
 *
 * The queue is read through ERR_print_errors_cb, because its lines are the
 * text that node reports for errors of a connection; the packed codes are
 * read back out of these lines, so that each entry is taken only once.
 */
#include "status.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* OpenSSL keeps 16 slots and uses all but one of them. */
enum { QUEUE_MAX = 16 };

/* The room that node gives the message of an error; longer ones are cut. */
enum { MESSAGE_MAX = 128 };

struct queue {
  unsigned long codes[QUEUE_MAX]; /* oldest first */
  size_t count;
  bool out_of_memory;
  struct etls_error *error; /* NULL: nobody wants the text */
  size_t report_len;
};

const char *etls_status_name(enum etls_status status) {
  switch (status) {
  case ETLS_OK:
    return "ETLS_OK";
  case ETLS_WANT_INPUT:
    return "ETLS_WANT_INPUT";
  case ETLS_WANT_OUTPUT:
    return "ETLS_WANT_OUTPUT";
  case ETLS_END:
    return "ETLS_END";
  case ETLS_ERR_USAGE:
    return "ETLS_ERR_USAGE";
  case ETLS_ERR_MEMORY:
    return "ETLS_ERR_MEMORY";
  case ETLS_ERR_IO:
    return "ETLS_ERR_IO";
  case ETLS_ERR_TLS:
    return "ETLS_ERR_TLS";
  case ETLS_ERR_INTERNAL:
    return "ETLS_ERR_INTERNAL";
  }
  return "ETLS_UNKNOWN";
}

/* Runs before most calls into the core, so not all of it is written. */
void etls_error_init(struct etls_error *error) {
  error->status = ETLS_OK;
  error->sys_errno = 0;
  error->syscall = NULL;
  error->option = 0;
  error->openssl = 0;
  error->message[0] = '\0';
  error->report[0] = '\0';
  error->library[0] = '\0';
  error->reason[0] = '\0';
  error->code[0] = '\0';
  error->ssl_code[0] = '\0';
  error->stack_len = 0;
}

static void copy_text(char *dst, size_t cap, const char *text) {
  size_t len = strlen(text);
  if (len >= cap)
    len = cap - 1;
  memcpy(dst, text, len);
  dst[len] = '\0';
}

/* "no start line" -> "NO_START_LINE" behind what dst already holds. */
static void append_upper(char *dst, size_t cap, const char *text) {
  size_t at = strlen(dst);
  for (; *text != '\0' && at + 1 < cap; text++) {
    char c = *text;
    if (c == ' ')
      c = '_';
    else if (c >= 'a' && c <= 'z')
      c = (char)(c - 'a' + 'A');
    dst[at++] = c;
  }
  dst[at] = '\0';
}

static int on_queue_line(const char *line, size_t len, void *arg) {
  struct queue *queue = arg;
  const char *mark = strstr(line, ":error:");
  unsigned long code = 0;
  if (mark != NULL)
    code = strtoul(mark + strlen(":error:"), NULL, 16);
  if (ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
    queue->out_of_memory = true;
  if (queue->count < QUEUE_MAX)
    queue->codes[queue->count++] = code;
  if (queue->error != NULL) {
    size_t room = ETLS_ERROR_REPORT_MAX - 1 - queue->report_len;
    if (len > room)
      len = room;
    memcpy(queue->error->report + queue->report_len, line, len);
    queue->report_len += len;
    queue->error->report[queue->report_len] = '\0';
  }
  return 1;
}

static void read_queue(struct queue *queue, struct etls_error *error) {
  memset(queue, 0, sizeof(*queue));
  queue->error = error;
  ERR_print_errors_cb(on_queue_line, queue);
  ERR_clear_error();
}

bool etls_queue_clear(void) {
  struct queue queue;
  if (ERR_peek_error() == 0)
    return false;
  read_queue(&queue, NULL);
  return queue.out_of_memory;
}

/* The part of node's error codes that names the library, e.g. "PEM_". */
static const char *library_code(unsigned long code) {
  static const struct {
    int library;
    const char *name;
  } names[] = {
      {ERR_LIB_SYS, "SYS_"},
      {ERR_LIB_BN, "BN_"},
      {ERR_LIB_RSA, "RSA_"},
      {ERR_LIB_DH, "DH_"},
      {ERR_LIB_EVP, "EVP_"},
      {ERR_LIB_BUF, "BUF_"},
      {ERR_LIB_OBJ, "OBJ_"},
      {ERR_LIB_PEM, "PEM_"},
      {ERR_LIB_DSA, "DSA_"},
      {ERR_LIB_X509, "X509_"},
      {ERR_LIB_ASN1, "ASN1_"},
      {ERR_LIB_CONF, "CONF_"},
      {ERR_LIB_CRYPTO, "CRYPTO_"},
      {ERR_LIB_EC, "EC_"},
      {ERR_LIB_BIO, "BIO_"},
      {ERR_LIB_PKCS7, "PKCS7_"},
      {ERR_LIB_X509V3, "X509V3_"},
      {ERR_LIB_PKCS12, "PKCS12_"},
      {ERR_LIB_RAND, "RAND_"},
      {ERR_LIB_DSO, "DSO_"},
      {ERR_LIB_ENGINE, "ENGINE_"},
      {ERR_LIB_OCSP, "OCSP_"},
      {ERR_LIB_UI, "UI_"},
      {ERR_LIB_COMP, "COMP_"},
      {ERR_LIB_ECDSA, "ECDSA_"},
      {ERR_LIB_ECDH, "ECDH_"},
      {ERR_LIB_OSSL_STORE, "OSSL_STORE_"},
      {ERR_LIB_FIPS, "FIPS_"},
      {ERR_LIB_CMS, "CMS_"},
      {ERR_LIB_TS, "TS_"},
      {ERR_LIB_HMAC, "HMAC_"},
      {ERR_LIB_CT, "CT_"},
      {ERR_LIB_ASYNC, "ASYNC_"},
      {ERR_LIB_KDF, "KDF_"},
      {ERR_LIB_SM2, "SM2_"},
      {ERR_LIB_USER, "USER_"},
  };
  int library = ERR_GET_LIB(code);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (names[i].library == library)
      return names[i].name;
  }
  return "";
}

static void describe(struct etls_error *error, unsigned long code) {
  const char *library = ERR_lib_error_string(code);
  const char *reason = ERR_reason_error_string(code);

  ERR_error_string_n(code, error->message, MESSAGE_MAX);
  if (library != NULL)
    copy_text(error->library, sizeof(error->library), library);
  if (reason == NULL)
    return;
  copy_text(error->reason, sizeof(error->reason), reason);
  copy_text(error->ssl_code, sizeof(error->ssl_code), "ERR_SSL_");
  append_upper(error->ssl_code, sizeof(error->ssl_code), reason);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
    copy_text(error->code, sizeof(error->code), error->ssl_code);
    return;
  }
  copy_text(error->code, sizeof(error->code), "ERR_OSSL_");
  append_upper(error->code, sizeof(error->code), library_code(code));
  append_upper(error->code, sizeof(error->code), reason);
}

enum etls_status etls_error_set_code(struct etls_error *error,
                                     enum etls_status status, const char *code,
                                     const char *text) {
  ERR_clear_error();
  if (error->status != ETLS_OK)
    return error->status;
  error->status = status;
  copy_text(error->message, sizeof(error->message), text);
  copy_text(error->code, sizeof(error->code), code);
  return status;
}

enum etls_status etls_error_set(struct etls_error *error,
                                enum etls_status status, const char *text) {
  return etls_error_set_code(error, status, "", text);
}

enum etls_status etls_error_set_errno(struct etls_error *error,
                                      const char *syscall, int number) {
  ERR_clear_error();
  if (error->status != ETLS_OK)
    return error->status;
  error->status = ETLS_ERR_IO;
  error->syscall = syscall;
  error->sys_errno = number;
  snprintf(error->message, sizeof(error->message), "%s failed with errno %d",
           syscall, number);
  return ETLS_ERR_IO;
}

enum etls_status etls_error_set_memory(struct etls_error *error) {
  return etls_error_set(error, ETLS_ERR_MEMORY, "Out of memory");
}

enum etls_status etls_error_drain(struct etls_error *error,
                                  enum etls_status status,
                                  const char *fallback) {
  struct queue queue;

  if (error->status != ETLS_OK) {
    ERR_clear_error();
    return error->status;
  }
  read_queue(&queue, error);
  error->status = queue.out_of_memory ? ETLS_ERR_MEMORY : status;
  if (queue.count == 0) {
    if (fallback != NULL)
      copy_text(error->message, sizeof(error->message), fallback);
    else
      ERR_error_string_n(0, error->message, MESSAGE_MAX);
    return error->status;
  }
  error->openssl = queue.codes[0];
  describe(error, queue.codes[0]);
  for (size_t i = queue.count; i > 1 && error->stack_len < ETLS_ERROR_STACK_MAX;
       i--)
    ERR_error_string_n(queue.codes[i - 1], error->stack[error->stack_len++],
                       ETLS_ERROR_TEXT_MAX);
  return error->status;
}
