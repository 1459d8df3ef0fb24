import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TOKEN_HEADER } from '../wire/answers.js';

/** The secret of one run of the server. Only the address that the command prints contains it. */
export class Token {
  /** 43 characters that a URL's fragment holds as they are. */
  readonly text = randomBytes(32).toString('base64url');
  readonly #digest = digestOf(this.text);

  /** Takes the same time for every wrong text. */
  matches(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(digestOf(given), this.#digest);
  }
}

/** Of one length, whatever the text is: a comparison in constant time needs that. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Why a request is refused: the status, and words for who sees it. */
export interface Refusal {
  status: number;
  error: string;
}

/**
 * Any port: `ssh -L` brings another one. No other name, because a page of another site may have its
 * name point to this machine (DNS rebinding).
 */
const OWN_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i;

/** Refuses a request of a foreign host or page. Every request goes through it, also for files of the page. */
export function refuseForeignHost({ headers }: IncomingMessage): Refusal | undefined {
  const { host = '', origin } = headers;
  if (!OWN_HOST.test(host)) {
    return {
      status: 403,
      error: 'the Host header must be localhost, 127.0.0.1 or [::1]: open the printed address',
    };
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return {
      status: 403,
      error: 'only the page of this server may ask: the Origin is another one',
    };
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && origin !== undefined) {
    return {
      status: 403,
      error: 'only the page of this server may ask: the request is cross-site',
    };
  }
  return undefined;
}

/** Refuses a request for data that does not have the token. */
export function refuseWithoutToken(
  { headers }: IncomingMessage,
  token: Token,
): Refusal | undefined {
  const given = headers[TOKEN_HEADER];
  if (token.matches(typeof given === 'string' ? given : undefined)) return undefined;
  return {
    status: 401,
    error: 'the token is missing or wrong: open the address that `tracewright view` printed last',
  };
}

/** Of every answer. No script, style or request but the server's own; no frame around the page. */
export const SAFETY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
