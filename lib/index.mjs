// The same names for import as for require.
import eagerTls from './index.js'

export const {
  TLSSocket,
  backend,
  backendReason,
  checkServerIdentity,
  clear,
  configure,
  connect,
  connectAsync,
  createSecureContext,
  getCiphers,
  rootCertificates,
  stats,
  DEFAULT_CIPHERS,
  DEFAULT_ECDH_CURVE,
  DEFAULT_MAX_VERSION,
  DEFAULT_MIN_VERSION
} = eagerTls

export default eagerTls
