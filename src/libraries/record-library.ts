import { version } from '../core/version.js';
import { SCHEMA_URL } from '../spans/conventions.js';
import { Scope } from '../spans/scope.js';
import { AnnouncedSpans } from './engine/announced-spans.js';
import type { CallMessage } from './engine/calls.js';
import { LibraryGuard } from './engine/library-guard.js';
import { channelOf, OperationChannels } from './engine/operation-channels.js';
import { OperationSpans } from './engine/operation-spans.js';
import type { Library, LibraryOptions } from './library.js';
import { entryOf, exportOf } from './table.js';
import type { LibraryName } from './table.js';

/** The message with which a library was loaded, and its channel. */
interface FirstMessage {
  channel: string;
  message: unknown;
}

/** Records what a library does from now on, and the operation whose message is the first. */
function traceLibrary(
  { name, operations, announcements = [] }: Library,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  const guard = new LibraryGuard(name);
  const scope = new Scope(`tracewright/${name}`, version, SCHEMA_URL);
  for (const operation of operations) {
    const made = new OperationSpans(operation, name, scope, options, guard);
    const channels = new OperationChannels(operation, made, guard);
    channels.subscribe();
    if (first.channel === channelOf(operation, 'start')) {
      channels.beginByHand(first.message as CallMessage);
    }
  }
  for (const announcement of announcements) {
    const observed = new AnnouncedSpans(announcement, scope, options, guard);
    observed.subscribe();
    if (first.channel === announcement.channel) observed.record(first.message as object);
  }
}

/** The operations of a library. One without a file hands requests over, and records nothing itself. */
export function libraryOf(name: LibraryName): Library {
  const { spans } = entryOf(name);
  return spans === undefined ? { name, operations: [] } : exportOf(name, spans());
}

/** Records from now on what a library of this thread does, beginning with the first message. */
export function recordLibrary(
  name: LibraryName,
  options: LibraryOptions,
  first: FirstMessage,
): void {
  traceLibrary(libraryOf(name), options, first);
}
