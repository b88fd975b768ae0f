/**
 * Importing this module puts `connect` and `createSecureContext` in place of
 * those of `node:tls`. Loading it more than once is harmless.
 */

/**
 * Puts node's own functions back. What somebody else has replaced in the
 * meantime stays.
 */
export function restore (): void
