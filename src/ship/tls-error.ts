/** Codes of errors of certificates and handshakes. */
const CODES =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO|ERR_OSSL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** Whether an error is one of TLS: a repetition does not help. */
export function isTlsError(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === 'string' && CODES.test(code)) || (cause != null && isTlsError(cause));
}
