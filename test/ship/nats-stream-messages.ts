import { jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll } from 'vitest';
import { decodeFields, messages } from '../export/protobuf-fields.js';

export const SERVER = '127.0.0.1:4222';

/** A connection, and streams that last as long as the test file. */
export class TestStreams {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly #names = new Set<string>();

  private constructor(connection: NatsConnection, manager: JetStreamManager) {
    this.connection = connection;
    this.manager = manager;
  }

  static async open(): Promise<TestStreams> {
    const connection = await connect({ servers: SERVER });
    const streams = new TestStreams(connection, await jetstreamManager(connection));
    afterAll(async () => {
      for (const name of streams.#names) await streams.manager.streams.delete(name);
      await connection.close();
    });
    return streams;
  }

  /** A first token of subjects that nobody has. Its stream is deleted after the tests. */
  subject(): string {
    const subject = `tracewright_test_${process.pid}_${this.#names.size}`;
    this.#names.add(subject.toUpperCase());
    return subject;
  }

  /** All messages of a stream. */
  async messages(subject: string): Promise<StoredMsg[]> {
    const name = subject.toUpperCase();
    const { state } = await this.manager.streams.info(name);
    const all: StoredMsg[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await this.manager.streams.getMessage(name, { seq });
      if (message !== null) all.push(message);
    }
    return all;
  }
}

/** Ids of the spans of a message, in their order. */
export function spanIds(message: StoredMsg): string[] {
  return messages(decodeFields(message.data), 1)
    .flatMap((resource) => messages(resource, 2))
    .flatMap((scope) => scope.get(2) ?? [])
    .map((span) =>
      Buffer.from(decodeFields(span as Uint8Array).get(2)![0] as Uint8Array).toString('hex'),
    );
}
