import { errorMonitor } from 'node:events';
import type { EventEmitter } from 'node:events';
import { basename } from 'node:path';
import * as names from './engine/conventions.js';
import { requiredObject, text, UnknownPayload } from './engine/payload.js';
import type { Announcement, Library } from './library.js';

/** Its arguments and environment are never read. */
interface Child extends EventEmitter {
  pid?: unknown;
  spawnfile?: unknown;
}

interface Message {
  process?: unknown;
}

/** A process of `spawn`, `exec`, `execFile` or `fork`, from its start to its exit. */
const child: Announcement<Message> = {
  channel: 'child_process',
  kind: 'client',
  // What a program starts for itself may run as long as it does.
  needsParent: true,
  describe(message) {
    const process = requiredObject(message.process, 'process') as { on?: unknown };
    if (typeof process.on !== 'function') throw new UnknownPayload('process');
    return { name: 'process', attributes: {} };
  },
  follow(message, span) {
    const process = message.process as Child;
    // It is published before it has a name.
    const name = (): void => {
      const file = text(process.spawnfile);
      if (file === undefined) return;
      span.rename(basename(file));
      span.set(names.EXECUTABLE, basename(file));
    };
    span.on(process, 'spawn', () => {
      name();
      span.set(names.PROCESS_ID, process.pid as number | undefined);
    });
    span.on(process, errorMonitor, (error) => {
      name();
      // Later errors are of signals and messages to it.
      if (process.pid === undefined) span.end({ error });
    });
    span.on(process, 'exit', (code, signal) => {
      if (code === 0) {
        span.set(names.EXIT_CODE, 0);
        span.end();
      } else if (typeof code === 'number') {
        span.set(names.EXIT_CODE, code);
        span.end({ error: { code: `EXIT_${code}` } });
      } else {
        span.end({ error: { code: signal } });
      }
    });
  },
};

export const childProcess: Library = {
  name: 'child_process',
  operations: [],
  announcements: [child],
};
