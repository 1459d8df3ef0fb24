import { TracewrightError } from '../core/errors.js';

/** Whatever was thrown while a file was read, or spans were sent, as an error that names it. */
export function faultOf(path: string, error: unknown): TracewrightError {
  if (error instanceof TracewrightError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new TracewrightError('ERR_SYSTEM', `${path}: ${message}`, { field: 'path', value: path });
}

/** The error for a setting that is wrong. It does not repeat the value in its message: that may be a secret. */
export function wrongSetting(
  field: string,
  value: string | undefined,
  limit: string,
): TracewrightError {
  const details = { field, value, limit };
  return new TracewrightError('ERR_ARGUMENT_RANGE', `${field} must be ${limit}`, details);
}

/** Codes of errors of certificates and handshakes. */
const CODES =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO|ERR_OSSL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** Whether an error is one of TLS: a repetition does not help. */
export function isTlsError(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return (typeof code === 'string' && CODES.test(code)) || (cause != null && isTlsError(cause));
}
