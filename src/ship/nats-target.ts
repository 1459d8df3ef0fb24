import type * as JetStream from '@nats-io/jetstream';
import type * as Nats from '@nats-io/transport-node';
import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { wrapSystemError } from '../core/files/system-error.js';
import { counted } from '../core/readable-text.js';
import { version } from '../core/version.js';
import { RequestEncoder } from '../export/otlp/otlp-protobuf.js';
import { isTlsError } from './errors.js';
import { cutMessages, SpanTooLarge } from './nats-messages.js';
import type { NatsMessage } from './nats-messages.js';
import type { NatsSettings } from './nats-settings.js';
import { DUPLICATE_WINDOW_MS, findStream, NoStream } from './nats-stream.js';
import type { Outcome, ShipBatch, ShipTarget } from './target.js';

/** Where packages are looked for: next to the command, then in the project of the working directory. */
function directories(): string[] {
  const [, script] = process.argv;
  const project = join(process.cwd(), 'x');
  if (script === undefined) return [project];
  try {
    // npm starts the command by a link.
    return [realpathSync(script), script, project];
  } catch {
    return [script, project];
  }
}

/**
 * Loads a package that only some options need.
 *
 * @param install what a person has to install.
 * @throws TracewrightError `ERR_DEPENDENCY` when it cannot be found.
 */
function loadOptionalPackage(name: string, field: string, install: string): unknown {
  let cause: unknown;
  for (const directory of directories()) {
    try {
      return createRequire(directory)(name) as unknown;
    } catch (error) {
      cause ??= error;
    }
  }
  const limit = `npm install ${install}`;
  throw new TracewrightError('ERR_DEPENDENCY', `${field} needs ${name}: ${limit}`, {
    field,
    value: name,
    limit,
    cause,
  });
}

const PACKAGES = '@nats-io/transport-node @nats-io/jetstream';
/** Of a connection, and of an acknowledgement, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Bytes of messages that wait for their acknowledgement. */
const MOST_WAITING_BYTES = 16 << 20;
/** Bytes of a message's headers at most: they count, too. */
const HEADER_BYTES = 1024;
const CONTENT_TYPE = 'application/x-protobuf';
/** JetStream's codes of errors about the size of a message. */
const TOO_LARGE: ReadonlySet<number> = new Set([10054, 10165]);

/** A connection, and the stream that it publishes to. */
interface Link {
  connection: Nats.NatsConnection;
  client: JetStream.JetStreamClient;
  mostBytes: number;
}

/** Publishes spans to a stream of NATS JetStream. */
export class NatsTarget implements ShipTarget {
  readonly label: string;
  readonly knowsRepeats = true;
  readonly #settings: NatsSettings;
  readonly #onNote: (text: string) => void;
  readonly #nats: typeof Nats;
  readonly #jetStream: typeof JetStream;
  readonly #encoder = new RequestEncoder();
  #link: Promise<Link> | undefined;
  /** Ids of messages that the server has, of batches that are sent again. */
  readonly #acknowledged = new Set<string>();
  #waitingBytes = 0;
  #room: (() => void)[] = [];
  #lastNote = '';

  /** @throws TracewrightError `ERR_DEPENDENCY` when NATS' packages are not installed. */
  constructor(settings: NatsSettings, onNote: (text: string) => void) {
    this.label = settings.label;
    this.#settings = settings;
    this.#onNote = onNote;
    this.#nats = loadOptionalPackage(
      '@nats-io/transport-node',
      '--to nats:',
      PACKAGES,
    ) as typeof Nats;
    this.#jetStream = loadOptionalPackage(
      '@nats-io/jetstream',
      '--to nats:',
      PACKAGES,
    ) as typeof JetStream;
  }

  async send(batch: ShipBatch, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: 'retry', reason: 'ended' };
    let aborted: (() => void) | undefined;
    const ended = new Promise<Outcome>((resolve) => {
      aborted = () => {
        resolve({ kind: 'retry', reason: 'ended' });
      };
      signal.addEventListener('abort', aborted);
    });
    try {
      return await Promise.race([this.#send(batch), ended]);
    } finally {
      signal.removeEventListener('abort', aborted!);
    }
  }

  async close(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    try {
      await (await link)?.connection.close();
    } catch {
      // There was none.
    }
  }

  async #send(batch: ShipBatch): Promise<Outcome> {
    let link: Link;
    try {
      link = await this.#connected();
    } catch (error) {
      return this.#failure(error);
    }
    let messages: NatsMessage[];
    try {
      messages = cutMessages(batch, this.#settings.subject, this.#encoder, link.mostBytes);
    } catch (error) {
      if (!(error instanceof SpanTooLarge)) throw error;
      return { kind: 'refused', reason: error.message };
    }
    const acknowledged = this.#acknowledged;
    const results = await Promise.all(messages.map((message) => this.#publish(link, message)));
    const failed = results.filter((result) => result !== undefined);
    const worst =
      failed.find(({ kind }) => kind === 'stopped') ??
      failed.find(({ kind }) => kind === 'retry') ??
      failed[0];
    if (worst === undefined) {
      for (const { id } of messages) acknowledged.delete(id);
      return { kind: 'accepted' };
    }
    messages.forEach(({ id }, i) => {
      if (results[i] === undefined) acknowledged.add(id);
    });
    return worst;
  }

  /** The connection, which all batches share. */
  async #connected(): Promise<Link> {
    const connecting = (this.#link ??= this.#connect());
    try {
      return await connecting;
    } catch (error) {
      if (this.#link === connecting) this.#link = undefined;
      throw error;
    }
  }

  /** Publishes a message and waits until the stream has it; undefined: it has. */
  async #publish(link: Link, message: NatsMessage): Promise<Outcome | undefined> {
    const { subject, id, host, pid, spans, bytes } = message;
    if (this.#acknowledged.has(id)) return undefined;
    while (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > MOST_WAITING_BYTES) {
      await new Promise<void>((resolve) => this.#room.push(resolve));
    }
    this.#waitingBytes += bytes.length;
    try {
      const headers = this.#nats.headers();
      headers.set('Content-Type', CONTENT_TYPE);
      headers.set('Tracewright-Host', host);
      headers.set('Tracewright-Pid', pid);
      headers.set('Tracewright-Spans', String(spans));
      await link.client.publish(subject, bytes, { msgID: id, headers, timeout: TIMEOUT_MS });
      return undefined;
    } catch (error) {
      return this.#failure(error, link);
    } finally {
      this.#waitingBytes -= bytes.length;
      for (const resolve of this.#room.splice(0)) resolve();
    }
  }

  async #connect(): Promise<Link> {
    const { server, hostname, isTls, user, password, token, credentials } = this.#settings;
    const { connect, credsAuthenticator } = this.#nats;
    const connection = await connect({
      servers: server,
      name: `tracewright ${version}`,
      // Delivery decides when to try again.
      reconnect: false,
      timeout: TIMEOUT_MS,
      // What Node compares the certificate with if it is an address. For a name, the client says it.
      ...(isTls && { tls: { host: hostname } as Nats.TlsOptions }),
      ...(user !== undefined && { user }),
      ...(password !== undefined && { pass: password }),
      ...(token !== undefined && { token }),
      ...(credentials !== undefined && {
        authenticator: credsAuthenticator(
          wrapSystemError('NATS_CREDS', credentials, () => readFileSync(credentials)),
        ),
      }),
    });
    try {
      const manager = await this.#jetStream.jetstreamManager(connection, { timeout: TIMEOUT_MS });
      const stream = await findStream(manager, this.#settings);
      const { name, duplicateWindowMs, isCreated } = stream;
      if (isCreated) this.#note(`created the stream ${name}`);
      else if (duplicateWindowMs < DUPLICATE_WINDOW_MS) {
        this.#note(
          `the stream ${name} forgets ids of messages after ${counted(duplicateWindowMs / 1000, 'second')}: ` +
            `a later repeat is stored twice. Set its duplicate window to ${DUPLICATE_WINDOW_MS / 60_000} minutes`,
        );
      }
      const ofServer = connection.info?.max_payload ?? 1 << 20;
      const ofStream = stream.mostBytes > 0 ? stream.mostBytes : Infinity;
      const link: Link = {
        connection,
        client: manager.jetstream(),
        mostBytes: Math.min(ofServer, ofStream) - HEADER_BYTES,
      };
      const own = this.#link;
      void connection.closed().then(() => {
        if (this.#link === own) this.#link = undefined;
      });
      return link;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  #note(text: string): void {
    if (text === this.#lastNote) return;
    this.#lastNote = text;
    this.#onNote(text);
  }

  /** The outcome of an error; the next attempt connects again if this connection may be the reason. */
  #failure(error: unknown, link?: Link): Outcome {
    const { name, message, code } = error as Error & { code?: unknown };
    const reason = message === '' ? name : message;
    if (error instanceof NoStream) return { kind: 'stopped', reason };
    const { errors } = this.#nats;
    if (
      error instanceof errors.AuthorizationError ||
      error instanceof errors.UserAuthenticationExpiredError ||
      error instanceof errors.PermissionViolationError
    ) {
      return { kind: 'stopped', reason };
    }
    if (isTlsError(error)) return { kind: 'stopped', reason };
    if (error instanceof this.#jetStream.JetStreamApiError) {
      return { kind: TOO_LARGE.has(Number(code)) ? 'refused' : 'retry', reason };
    }
    // The stream may be gone, or the server has just begun: the next connection sees which.
    void link?.connection.close();
    return { kind: 'retry', reason: name === 'JetStreamNotEnabled' ? 'no stream answers' : reason };
  }
}
