import { readFileSync } from 'node:fs';
import { wrongSetting } from './errors.js';
import { readRegularFile } from '../core/files/regular-file.js';
import { wrapSystemError } from '../core/files/system-error.js';

/** How requests go to an OTLP/HTTP endpoint. */
export interface OtlpSettings {
  url: URL;
  /** Reads them again, after a signal. */
  headers: () => Readonly<Record<string, string>>;
  compression: 'gzip' | 'none';
  /** Of one request, in milliseconds. */
  timeoutMs: number;
  /** Contents of PEM files. */
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const TRACES_PATH = 'v1/traces';
const DEFAULT_TIMEOUT_MS = 10_000;
/** Bytes of a file of headers at most. */
const MOST_HEADER_BYTES = 64 << 10;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The value of a variable of OpenTelemetry's for traces, or of the one for all signals. */
function variable(env: Environment, name: string): [name: string, value: string] | undefined {
  for (const full of [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`]) {
    const value = env[full]?.trim();
    if (value !== undefined && value !== '') return [full, value];
  }
  return undefined;
}

function parseUrl(field: string, text: string): URL {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // What it has may be a secret: the message does not repeat it.
  }
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw wrongSetting(field, text, 'a URL with http: or https:');
  }
  return url;
}

/** Adds the path for traces to a base endpoint. */
function withTracesPath(url: URL): URL {
  const full = new URL(url);
  full.pathname = `${url.pathname.replace(/\/$/, '')}/${TRACES_PATH}`;
  return full;
}

/** The endpoint that OpenTelemetry's variables name. */
function endpointOf(env: Environment): URL {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']?.trim();
  if (own) return parseUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own);
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim();
  return withTracesPath(
    parseUrl(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      base === undefined || base === '' ? 'http://localhost:4318' : base,
    ),
  );
}

function checkHeader(field: string, name: string, value: string): void {
  // The value may be a secret.
  if (!HEADER_NAME.test(name) || /[\0\r\n]/.test(value)) {
    throw wrongSetting(field, name, 'lines of NAME: VALUE');
  }
}

/** Headers of `name=value,name=value`, percent-encoded. */
function headersOfVariable(field: string, text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const each of text.split(',')) {
    const at = each.indexOf('=');
    if (at === -1 && each.trim() === '') continue;
    const name = each.slice(0, Math.max(at, 0)).trim();
    let value = each.slice(at + 1).trim();
    try {
      value = decodeURIComponent(value);
    } catch {
      // It is no percent-encoding: it is what it is.
    }
    checkHeader(field, name, value);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Headers of a file: a line of `Name: value` each. */
function headersOfFile(path: string): Record<string, string> {
  const text = wrapSystemError('--headers', path, () =>
    readRegularFile(path, MOST_HEADER_BYTES, 'followed').toString('utf8'),
  );
  const headers: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const at = line.indexOf(':');
    const name = line.slice(0, Math.max(at, 0)).trim();
    const value = line.slice(at + 1).trim();
    checkHeader('--headers', name, value);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function pemOf(env: Environment, name: string): string | undefined {
  const found = variable(env, name);
  if (found === undefined) return undefined;
  const [field, path] = found;
  return wrapSystemError(field, path, () => readFileSync(path, 'utf8'));
}

/** Options of a command line that concern one target. */
export interface OtlpOptions {
  /** Undefined: OpenTelemetry's variables name it. */
  url?: string | undefined;
  headersFile?: string | undefined;
  compression?: string | undefined;
}

/**
 * The settings of a target: the command line's, else those of OpenTelemetry's variables.
 *
 * @throws TracewrightError for a setting that is wrong.
 */
export function otlpSettings(options: OtlpOptions, env: Environment = process.env): OtlpSettings {
  const protocol = variable(env, 'PROTOCOL');
  if (protocol !== undefined && protocol[1] !== 'http/protobuf') {
    throw wrongSetting(protocol[0], protocol[1], 'http/protobuf: ship sends OTLP over HTTP alone');
  }
  let url: URL;
  if (options.url === undefined) url = endpointOf(env);
  else {
    url = parseUrl('--to', options.url);
    if (url.pathname === '/') url = withTracesPath(url);
  }
  const own = variable(env, 'HEADERS');
  const { headersFile } = options;
  const ofVariable = own === undefined ? {} : headersOfVariable(...own);
  const headers =
    headersFile === undefined
      ? () => ofVariable
      : () => ({ ...ofVariable, ...headersOfFile(headersFile) });
  headers();
  const compression = options.compression ?? variable(env, 'COMPRESSION')?.[1] ?? 'gzip';
  if (compression !== 'gzip' && compression !== 'none') {
    throw wrongSetting('--compression', compression, 'gzip or none');
  }
  const timeout = variable(env, 'TIMEOUT');
  const timeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : Number(timeout[1]);
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) {
    throw wrongSetting(timeout![0], timeout![1], 'a number of milliseconds above 0');
  }
  const [ca, cert, key] = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map((name) =>
    pemOf(env, name),
  );
  return { url, headers, compression, timeoutMs, ca, cert, key };
}
