import { jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll } from 'vitest';
import { decodeFields, messages } from '../export/protobuf-fields.js';

export const SERVER = '127.0.0.1:4222';
const PREFIX = `tracewright_test_${process.pid}_`;

/** A connection, and streams that last as long as the test file. */
export class TestStreams {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  #subjects = 0;

  private constructor(connection: NatsConnection, manager: JetStreamManager) {
    this.connection = connection;
    this.manager = manager;
  }

  /** Is called while tests are collected. */
  static open(): Promise<TestStreams> {
    const opened = TestStreams.#connect();
    afterAll(async () => {
      const { connection, manager } = await opened;
      for await (const { config } of manager.streams.list()) {
        if (config.name.startsWith(PREFIX.toUpperCase())) await manager.streams.delete(config.name);
      }
      await connection.close();
    });
    return opened;
  }

  static async #connect(): Promise<TestStreams> {
    const connection = await connect({ servers: SERVER });
    return new TestStreams(connection, await jetstreamManager(connection));
  }

  /** A first token of subjects that nobody has. Its stream is deleted after the tests. */
  subject(): string {
    return `${PREFIX}${this.#subjects++}`;
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
