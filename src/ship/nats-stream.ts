import type { JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import type { NatsSettings } from './nats-settings.js';

const NS_IN_MS = 1e6;
/** A message is repeated after at most half a minute; a restarted shipper repeats what was on its way. */
export const DUPLICATE_WINDOW_MS = 15 * 60_000;
/** JetStream's code of an error: no stream has a name or takes a subject. */
const NO_STREAM = 10059;

/** The stream that takes spans. */
interface FoundStream {
  name: string;
  /** Bytes of a message at most; -1: no own limit. */
  mostBytes: number;
  duplicateWindowMs: number;
  isCreated: boolean;
}

/** No stream takes the subject. */
export class NoStream extends Error {}

/**
 * Finds the stream that takes the spans, or makes it.
 *
 * @throws NoStream if there is none, and none is to be made.
 */
export async function findStream(
  manager: JetStreamManager,
  { subject, create }: NatsSettings,
): Promise<FoundStream> {
  const all = `${subject}.*`;
  let name: string | undefined;
  try {
    name = await manager.streams.find(`${subject}.tracewright`);
  } catch (error) {
    if ((error as { code?: unknown }).code !== NO_STREAM) throw error;
  }
  if (name !== undefined) {
    const { config } = await manager.streams.info(name);
    return describe(config, false);
  }
  if (create === undefined) {
    throw new NoStream(`no stream takes ${all}: --create-stream 7d makes one`);
  }
  const { config } = await manager.streams.add({
    name: subject.toUpperCase(),
    subjects: [`${subject}.>`],
    max_age: create.ageMs * NS_IN_MS,
    max_bytes: create.bytes,
    // A server refuses a window above the age.
    duplicate_window: Math.min(DUPLICATE_WINDOW_MS, create.ageMs) * NS_IN_MS,
  });
  return describe(config, true);
}

function describe(config: StreamConfig, isCreated: boolean): FoundStream {
  return {
    name: config.name,
    mostBytes: config.max_msg_size,
    duplicateWindowMs: config.duplicate_window / NS_IN_MS,
    isCreated,
  };
}
