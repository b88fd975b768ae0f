'use strict'

/**
 * What an allocation belongs to, by the functions on its call stack. They are
 * looked at from the innermost one outwards; the first one that a rule knows
 * decides. General helpers (CRYPTO_malloc, EVP_..., BN_...) are in no rule.
 */

const rules = [
  ['peer certificates', /^(tls_process_server_certificate|X509_verify_cert|X509_STORE_CTX|ssl_verify_cert_chain|x509v3_cache_extensions|ossl_x509v3_cache_extensions|X509_check_purpose)/],
  ['session', /^(SSL_SESSION_new|SSL_SESSION_dup|ssl_session_dup|ssl_get_new_session|ssl_get_prev_session|tls_process_new_session_ticket|d2i_SSL_SESSION|SSL_set_session)/],
  ['key exchange', /^(tls_construct_ctos_key_share|add_key_share|ssl_generate_pkey|ssl_derive|tls_parse_stoc_key_share|tls_construct_client_key_exchange)/],
  ['traffic keys and ciphers', /^(tls1[23]_change_cipher_state|tls1[23]_.*|derive_secret_key_and_iv|ssl_cache_cipherlist|ssl_replace_hash|ssl3_(do_change_cipher_spec|setup_key_block))/],
  ['record buffers', /^(ssl3_setup_(read|write)_buffer|ssl3_setup_buffers|ssl3_write_bytes|ssl3_read_n)/],
  ['transcript and messages', /^(ssl3_init_finished_mac|ssl3_finish_mac|ssl3_digest_cached_records|BUF_MEM_grow|tls_get_message|tls_construct_|tls_process_|tls_parse_|tls_collect_extensions|ssl_handshake_hash|statem_|state_machine)/],
  ['SSL object', /^(SSL_new|SSL_set|SSL_clear|ssl3_new|tls1_new|SSL_CTX_up_ref|SSL_add1_host|SSL_set1_host|SSL_dup)/],
  ['SSL_CTX', /^(SSL_CTX_|X509_STORE_|node::crypto::SecureContext|eager_tls: etls_context_new)/],
  ['this package, C', /^eager_tls: /],
  ['sockets and polls (libuv)', /^(uv_|uv__|node::(TCPWrap|PipeWrap|LibuvStreamWrap|HandleWrap|ConnectionWrap|ConnectWrap))/],
  ['node:tls, C++', /^node::(crypto::TLSWrap|TLSWrap|crypto::NodeBIO|crypto::)/],
  ['node, C++', /^(node::|napi_|v8impl::)/],
  ['V8, outside of its heap', /^(v8::|cppgc::|Builtins_)/],
  ['SSL, other', /^(SSL_|ssl_|ssl3_|tls_)/],
  ['OpenSSL, other', /^(OPENSSL_|CRYPTO_|EVP_|ERR_|RAND_|BIO_|OSSL_|ossl_|X509|ASN1|EC_|BN_)/]
]

function partOf (stack) {
  for (const name of stack) {
    const rule = rules.find(([, pattern]) => pattern.test(name))
    if (rule !== undefined && !/other$/.test(rule[0])) return rule[0]
  }
  // Nobody in particular: whoever is nearest in general.
  for (const name of stack) {
    const rule = rules.find(([, pattern]) => pattern.test(name))
    if (rule !== undefined) return rule[0]
  }
  return 'unknown'
}

/** A stack for people: without arguments, and what OpenSSL wraps malloc in. */
function shorten (stack) {
  return stack.filter((name) => !/^(CRYPTO_|operator new|__libc)/.test(name))
    .slice(0, 7).map((name) => name.replace(/[(<].*$|\.part\.\d+$/, '') || name)
    .join(' < ')
}

/**
 * @param {{ size: number, stack: string[] }[]} allocations
 * @returns {Map<string, { bytes: number, blocks: number, stacks: Map }>}
 */
function splitHeap (allocations) {
  const parts = new Map()
  for (const { size, stack } of allocations) {
    const name = partOf(stack)
    if (!parts.has(name)) {
      parts.set(name, { bytes: 0, blocks: 0, stacks: new Map() })
    }
    const part = parts.get(name)
    part.bytes += size
    part.blocks++
    const key = shorten(stack)
    part.stacks.set(key, (part.stacks.get(key) ?? 0) + size)
  }
  return parts
}

module.exports = { splitHeap }
