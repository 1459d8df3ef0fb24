import { bytesIn, millisecondsIn } from '../core/settings/amounts.js';
import { wrongSetting } from './errors.js';

/** How spans go to a NATS server. */
export interface NatsSettings {
  /** Without user and password. */
  label: string;
  /** Host and port. */
  server: string;
  hostname: string;
  /** First token of all subjects; in capitals the name of the stream that `--create-stream` makes. */
  subject: string;
  isTls: boolean;
  user: string | undefined;
  password: string | undefined;
  token: string | undefined;
  /** Path of a file with credentials. */
  credentials: string | undefined;
  /** Limits of the stream to create; undefined: there must be one. */
  create: StreamLimits | undefined;
}

/** Limits of a stream. */
interface StreamLimits {
  ageMs: number;
  /** -1: no limit. */
  bytes: number;
}

const DEFAULT_PORT = '4222';
const DEFAULT_SUBJECT = 'traces';

/** Parses `--create-stream`: an age, and bytes. */
function parseLimits(text: string): StreamLimits {
  const [age = '', most, ...others] = text.split(',');
  const ageMs = millisecondsIn(age) || undefined;
  const bytes = most === undefined ? -1 : bytesIn(most) || undefined;
  if (ageMs === undefined || bytes === undefined || others.length > 0) {
    throw wrongSetting(
      '--create-stream',
      text,
      'an age, or an age and bytes, such as 7d or 7d,10G',
    );
  }
  return { ageMs, bytes };
}

/**
 * The settings of a target: those of its URL, else those of NATS' variables.
 *
 * @throws TracewrightError for a setting that is wrong. It repeats no part that may be a secret.
 */
export function natsSettings(
  text: string,
  createStream: string | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): NatsSettings {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw wrongSetting('--to', undefined, 'a URL such as nats://localhost:4222');
  }
  const subject = url.pathname.slice(1) || DEFAULT_SUBJECT;
  if (url.hostname === '' || !/^[\w-]+$/.test(subject)) {
    throw wrongSetting(
      '--to',
      url.pathname,
      'nats://HOST:PORT, or nats://HOST:PORT/SUBJECT of one token',
    );
  }
  const server = `${url.hostname}:${url.port || DEFAULT_PORT}`;
  const decoded = (part: string): string | undefined =>
    part === '' ? undefined : decodeURIComponent(part);
  const user = decoded(url.username);
  const password = decoded(url.password);
  const hasOwn = user !== undefined;
  const own = (name: string): string | undefined => (hasOwn ? undefined : env[name] || undefined);
  return {
    label: `${url.protocol}//${server}/${subject}`,
    server,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    subject,
    isTls: url.protocol === 'tls:',
    user: password === undefined ? own('NATS_USER') : user,
    password: password ?? own('NATS_PASSWORD'),
    // A user without a password is a token.
    token: password === undefined ? (user ?? own('NATS_TOKEN')) : undefined,
    credentials: own('NATS_CREDS'),
    create: createStream === undefined ? undefined : parseLimits(createStream),
  };
}
