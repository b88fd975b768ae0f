/*
 * pem.c - PEM into X509_STOREs, with node's leniency: a `ca` that holds no
 * certificate is an empty one, a CRL that does not parse is an error.
 *
 * OpenSSL's readers say "the text ends here", "this is broken" and "there is
 * no memory" with the same NULL; only its error queue tells them apart. Where
 * memory ran out it says so, or, in PEM_read_bio_ex, says nothing at all.
 */
#include "pem.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <time.h>

#include "status.h"

BIO *etls_pem_bio(const void *bytes, size_t len) {
  if (len > INT_MAX)
    return NULL;
  /* An empty one still needs an address. */
  return BIO_new_mem_buf(len == 0 ? "" : bytes, (int)len);
}

int etls_pem_no_passphrase(char *buf, int size, int rwflag, void *arg) {
  (void)buf;
  (void)size;
  (void)rwflag;
  (void)arg;
  return 0;
}

bool etls_pem_out_of_memory(void) {
  return ERR_peek_error() == 0 || etls_queue_clear();
}

static bool at_end_of_text(void) {
  unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM &&
         ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

/* Adds certificates until one does not parse. false: no memory. */
static bool add_run(X509_STORE *store, BIO *bio, uint64_t *count) {
  X509 *certificate;
  while ((certificate = PEM_read_bio_X509_AUX(bio, NULL, etls_pem_no_passphrase,
                                              NULL)) != NULL) {
    /* Fails only for want of memory: a double is a success. */
    int added = X509_STORE_add_cert(store, certificate);
    X509_free(certificate);
    if (added != 1)
      return false;
    (*count)++;
  }
  return true;
}

enum etls_status etls_pem_add_certificates(X509_STORE *store, const void *bytes,
                                           size_t len, bool skip_bad,
                                           uint64_t *count,
                                           struct etls_error *error) {
  enum etls_status status = ETLS_OK;
  bool more = true;
  BIO *bio;

  ERR_clear_error();
  bio = etls_pem_bio(bytes, len);
  if (bio == NULL)
    return etls_error_set_memory(error);
  while (more) {
    size_t before = BIO_ctrl_pending(bio);
    if (!add_run(store, bio, count)) {
      status = etls_error_set_memory(error);
      break;
    }
    more = skip_bad && !at_end_of_text() && BIO_ctrl_pending(bio) < before;
    if (etls_pem_out_of_memory()) {
      status = etls_error_set_memory(error);
      break;
    }
  }
  BIO_free(bio);
  ERR_clear_error();
  return status;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar. The year begins in
 * March here, so that the day that comes and goes is its last one. */
static int64_t days_since_epoch(int64_t year, int64_t month, int64_t day) {
  int64_t era;
  int64_t day_of_year;

  if (month <= 2)
    year--;
  era = (year >= 0 ? year : year - 399) / 400;
  year -= era * 400;
  day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year * 365 + year / 4 - year / 100 + day_of_year -
         719468;
}

/* Seconds since the epoch; 0: there is no such date, or none that parses.
 * By hand because OpenSSL's ways allocate, and a date that is missing for want
 * of memory would be taken for "never". */
static int64_t seconds_of(const ASN1_TIME *time) {
  struct tm tm;
  int64_t minutes;

  if (time == NULL || ASN1_TIME_to_tm(time, &tm) != 1)
    return 0;
  minutes =
      days_since_epoch((int64_t)tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
  minutes = (minutes * 24 + tm.tm_hour) * 60 + tm.tm_min;
  return minutes * 60 + tm.tm_sec;
}

enum etls_status etls_pem_add_crl(X509_STORE *store, const void *bytes,
                                  size_t len, int64_t *expiry,
                                  struct etls_error *error) {
  enum etls_status status = ETLS_OK;
  X509_CRL *crl = NULL;
  int64_t next;
  BIO *bio;

  ERR_clear_error();
  bio = etls_pem_bio(bytes, len);
  if (bio == NULL)
    return etls_error_set_memory(error);
  crl = PEM_read_bio_X509_CRL(bio, NULL, etls_pem_no_passphrase, NULL);
  if (crl == NULL) {
    if (etls_pem_out_of_memory())
      status = etls_error_set_memory(error);
    else
      status = etls_error_set_code(error, ETLS_ERR_TLS,
                                   "ERR_CRYPTO_OPERATION_FAILED",
                                   "Failed to parse CRL");
    goto out;
  }
  if (X509_STORE_add_crl(store, crl) != 1) {
    status = etls_error_set_memory(error);
    goto out;
  }
  X509_STORE_set_flags(store,
                       X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  next = seconds_of(X509_CRL_get0_nextUpdate(crl));
  if (next != 0 && (*expiry == 0 || next < *expiry))
    *expiry = next;
out:
  X509_CRL_free(crl);
  BIO_free(bio);
  ERR_clear_error();
  return status;
}
