import { version } from '../../core/version.js';
import { SCHEMA_URL } from '../../spans/conventions.js';
import { Scope } from '../../spans/scope.js';
import type { Library, LibraryOptions } from '../library.js';
import { AnnouncedSpans } from './announced-spans.js';
import { LibraryGuard } from './library-guard.js';
import type { CallMessage } from './calls.js';
import { channelOf, OperationChannels } from './operation-channels.js';
import { OperationSpans } from './operation-spans.js';

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
