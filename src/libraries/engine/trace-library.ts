import { version } from '../../core/version.js';
import { SCHEMA_URL } from '../../spans/schema-url.js';
import { Scope } from '../../spans/scope.js';
import type { Library, LibraryOptions } from '../library.js';
import { AnnouncedSpans } from './announced-spans.js';
import { LibraryGuard } from './library-guard.js';
import { channelOf, OperationSpans } from './operation-spans.js';
import type { Message } from './running-operation.js';

/** The message with which a library was loaded, and its channel. */
export interface FirstMessage {
  channel: string;
  message: unknown;
}

/** Records what a library does from now on, and the operation whose message is the first. */
export function traceLibrary(
  { name, operations, announcements = [] }: Library,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  const guard = new LibraryGuard(name);
  const scope = new Scope(`tracewright/${name}`, version, SCHEMA_URL);
  for (const operation of operations) {
    const observed = new OperationSpans(operation, name, scope, options, guard);
    observed.subscribe();
    if (first.channel === channelOf(operation, 'start')) {
      observed.beginByHand(first.message as Message);
    }
  }
  for (const announcement of announcements) {
    const observed = new AnnouncedSpans(announcement, scope, options, guard);
    observed.subscribe();
    if (first.channel === announcement.channel) observed.record(first.message as object);
  }
}
