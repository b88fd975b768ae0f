/*
 * digest.c - SHA-256 with unambiguous framing: every piece is preceded by its
 * length, eight bytes, least significant first.
 */
#include "digest.h"

#include <openssl/evp.h>

static bool update_length(EVP_MD_CTX *md, size_t len) {
  uint8_t bytes[8];
  uint64_t rest = len;
  for (size_t i = 0; i < sizeof(bytes); i++) {
    bytes[i] = (uint8_t)(rest & 0xff);
    rest >>= 8;
  }
  return EVP_DigestUpdate(md, bytes, sizeof(bytes)) == 1;
}

bool etls_digest_pieces(const struct etls_piece *pieces, size_t count,
                        uint8_t out[ETLS_DIGEST_LEN]) {
  bool done = false;
  EVP_MD_CTX *md = EVP_MD_CTX_new();

  if (md == NULL || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1)
    goto out;
  for (size_t i = 0; i < count; i++) {
    if (!update_length(md, pieces[i].len) ||
        (pieces[i].len > 0 &&
         EVP_DigestUpdate(md, pieces[i].bytes, pieces[i].len) != 1))
      goto out;
  }
  done = EVP_DigestFinal_ex(md, out, NULL) == 1;
out:
  EVP_MD_CTX_free(md);
  return done;
}
