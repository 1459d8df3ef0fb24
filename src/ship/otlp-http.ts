import { promisify } from 'node:util';
import { gunzipSync, gzip } from 'node:zlib';
import { version } from '../core/version.js';
import { RequestEncoder } from '../export/otlp/otlp-protobuf.js';
import { groupSpans } from '../export/otlp/span-batches.js';
import { isTlsError } from './errors.js';
import { HttpConnection } from './http-connection.js';
import type { Answer } from './http-connection.js';
import type { OtlpSettings } from './otlp-settings.js';
import type { Outcome, ShipBatch, ShipTarget } from './target.js';

/** A field of a protobuf message: a number, or bytes. Those of other wire types are left out. */
interface Field {
  field: number;
  value?: number;
  bytes?: Buffer;
}

/** The fields of a protobuf message; undefined: it is none. */
function fieldsOf(bytes: Buffer): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        fields.push({ field, value: varint() });
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (!(length <= bytes.length - at)) return undefined;
        fields.push({ field, bytes: bytes.subarray(at, at + length) });
        at += length;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return undefined;
    }
  }
  return fields;
}

/** Reads from an ExportTraceServiceResponse how many spans were refused; undefined: none, or it is no such message. */
function partialSuccess(body: Buffer): { count: number; reason: string } | undefined {
  const message = fieldsOf(body)?.find(({ field }) => field === 1)?.bytes;
  const fields = message && fieldsOf(message);
  if (fields === undefined) return undefined;
  const count = fields.find(({ field }) => field === 1)?.value ?? 0;
  const reason = fields.find(({ field }) => field === 2)?.bytes?.toString('utf8') ?? '';
  return count === 0 ? undefined : { count, reason: reason === '' ? 'no reason given' : reason };
}

const compress = promisify(gzip);
/** Level 1: levels above 3 take more than twice the time for a tenth fewer bytes. */
const GZIP_LEVEL = 1;
/** Characters of what a target answers, in messages. */
const MOST_REASON = 300;
/** Shorter parts of header values are words. */
const SHORTEST_SECRET = 8;

/** Sends spans to an endpoint of OpenTelemetry's protocol over HTTP. */
export class OtlpHttpTarget implements ShipTarget {
  readonly label: string;
  readonly #settings: OtlpSettings;
  readonly #connection: HttpConnection;
  readonly #encoder = new RequestEncoder();
  #headers: Readonly<Record<string, string>>;

  constructor(settings: OtlpSettings) {
    const { url, ca, cert, key } = settings;
    this.label = `${url.origin}${url.pathname}`;
    this.#settings = settings;
    this.#headers = settings.headers();
    this.#connection = new HttpConnection(url, {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    });
  }

  /** Reads the file of headers again. @throws TracewrightError if it is wrong: the headers stay as they are. */
  reload(): void {
    this.#headers = this.#settings.headers();
  }

  async send({ spans }: ShipBatch, signal: AbortSignal): Promise<Outcome> {
    const { compression, timeoutMs } = this.#settings;
    const plain = this.#encoder.request(groupSpans(spans));
    const isCompressed = compression === 'gzip';
    const body = isCompressed ? await compress(plain, { level: GZIP_LEVEL }) : plain;
    const headers = {
      'user-agent': `tracewright/${version}`,
      ...this.#headers,
      'content-type': 'application/x-protobuf',
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    };
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await this.#connection.post(body, headers, AbortSignal.any([signal, timeout]));
      return this.#withoutSecrets(outcomeOf(answer));
    } catch (error) {
      if (timeout.aborted && !signal.aborted) {
        return { kind: 'retry', reason: `no answer within ${timeoutMs} ms` };
      }
      return this.#withoutSecrets(failureOf(error));
    }
  }

  /** A target may repeat what it was sent. */
  #withoutSecrets(outcome: Outcome): Outcome {
    if (outcome.kind === 'accepted') return outcome;
    let { reason } = outcome;
    const { username, password } = this.#settings.url;
    const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    const ofUrl = password === '' ? [] : [decodeURIComponent(password), basic.toString('base64')];
    for (const value of [...Object.values(this.#headers), ...ofUrl]) {
      for (const part of [value, ...value.split(' ')]) {
        if (part.length >= SHORTEST_SECRET) reason = reason.replaceAll(part, '***');
      }
    }
    return { ...outcome, reason };
  }

  close(): Promise<void> {
    this.#connection.close();
    return Promise.resolve();
  }
}

/** The outcome of a batch whose connection failed. */
function failureOf(error: unknown): Outcome {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = message === '' ? code : message;
  return { kind: isTlsError(error) ? 'stopped' : 'retry', reason };
}

function outcomeOf({ status, headers, body }: Answer): Outcome {
  if (status >= 200 && status < 300) {
    const refused = partialSuccess(plainBody(headers, body));
    return { kind: 'accepted', ...(refused && { refused }) };
  }
  const reason = reasonOf(status, headers, body);
  switch (status) {
    case 401:
    case 403:
    case 404:
    case 407:
      return { kind: 'stopped', reason };
    case 413:
      return { kind: 'tooLarge', reason };
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: {
      const afterMs = retryAfter(headers['retry-after']);
      const mayBeTooLarge = afterMs === undefined && (status === 429 || status === 500);
      return { kind: 'retry', reason, mayBeTooLarge, ...(afterMs !== undefined && { afterMs }) };
    }
  }
  // No answer to a request, such as 101.
  if (status < 200) return { kind: 'retry', reason };
  // A redirect would take the headers, and their secrets, to another address.
  if (status >= 300 && status < 400) return { kind: 'stopped', reason };
  return { kind: 'refused', reason };
}

function plainBody(headers: Answer['headers'], body: Buffer): Buffer {
  if (headers['content-encoding'] !== 'gzip') return body;
  try {
    return gunzipSync(body, { maxOutputLength: 1 << 20 });
  } catch {
    return Buffer.alloc(0);
  }
}

/** The status, and what a text or an error's message (google.rpc.Status, field 2) says. */
function reasonOf(status: number, headers: Answer['headers'], body: Buffer): string {
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  const text = plainBody(headers, body)
    .toString('utf8')
    .replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ')
    .trim()
    .slice(0, MOST_REASON);
  return text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;
}

/** Milliseconds of a Retry-After header: seconds, or a date. */
function retryAfter(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}
