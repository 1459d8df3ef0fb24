import { fstatSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { FileView } from '../../core/files/file-view.js';
import type { LivingRing } from '../../core/living/living-ring.js';
import {
  copyOwnRing,
  noteMissingRing,
  noteRing,
  openOwnRing,
  ownFileViewer,
} from '../../core/living/own-file-viewer.js';
import type { RingDirectories } from '../../core/living/ring-directories.js';
import type { TraceView, TraceViewer } from '../../core/living/trace-view.js';
import { readerOf, withEnding } from '../../core/recovery/own-file.js';
import { isAliveHere } from '../../core/recovery/ring-owner.js';
import { filesBelow } from '../../core/recovery/ring-search.js';
import {
  RING_FORMAT,
  STREAM_METADATA,
  finishedMetadataOf,
  isStream,
  metadataOf,
  ringOf,
  versionOf,
} from '../file-names.js';
import type { StreamOwner } from '../metadata-keys.js';
import { endingOf } from './stream-ending.js';
import { StreamOwners } from './stream-owners.js';

/** The streams of a trace, a part of one, or of one thread. */
function streamsAt(path: string): Iterable<string> {
  // A recovery deletes a stream that never had an event.
  const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isDirectory) return filesBelow(path, isStream);
  const name = basename(path);
  if (isStream(name, dirname(path))) return [path];
  return name === STREAM_METADATA ? filesBelow(dirname(path), isStream) : [];
}

/**
 * Shows an ovni trace as its rings complete it: of a dead process with the end of marks and threads that
 * a recovery would write.
 *
 * @returns what shows a trace directory, a part of one, or a stream.
 */
export function traceViewer(): TraceViewer {
  return ownFileViewer(showTrace);
}

function showTrace(view: TraceView, path: string, directories: RingDirectories): void {
  const owners = new StreamOwners();
  for (const stream of streamsAt(path)) {
    view.ofFile(stream, (fd) => {
      const owner = owners.ownerOf(stream);
      const ring = openOwnRing(fstatSync(fd), {
        nextTo: ringOf(stream),
        noted: owner?.ring,
        directories,
        isFormat: (format) => format.startsWith(RING_FORMAT),
      });
      const shown = { view, stream, fd };
      try {
        if (ring !== undefined) showWithRing(shown, ring);
        // A recovery, or the thread's end, may have finished the stream before its ring was looked for.
        else if (owner !== undefined && new StreamOwners().ownerOf(stream) !== undefined) {
          showWithoutRing(shown, owner);
        }
      } finally {
        ring?.close();
      }
    });
  }
}

/** A stream that is being shown. */
interface ShownStream {
  view: TraceView;
  stream: string;
  fd: number;
}

function showWithRing(shown: ShownStream, ring: LivingRing): void {
  const { view, stream, fd } = shown;
  const copy = copyOwnRing(ring);
  noteRing(view, { path: stream, fd }, ring, copy);
  const { from, bytes, page } = copy;
  if (ring.isRunning) view.show(fd, { from, bytes });
  // A recovery deletes what never had an event.
  else if (page.head !== 0) showEnded(shown, { from, bytes }, true);
}

function showWithoutRing(shown: ShownStream, owner: StreamOwner): void {
  const { view, stream, fd } = shown;
  // A recovery deletes rings before the metadata of a process says that its streams are finished.
  if (!isAliveHere(owner) && hasEnd(shown)) return;
  if (noteMissingRing(view, stream, owner, 'events')) return;
  showEnded(shown, { from: fstatSync(fd).size, bytes: Buffer.alloc(0) }, false);
}

/** Whether nothing is missing at the end of a file. */
function hasEnd({ stream, fd }: ShownStream): boolean {
  const { size } = fstatSync(fd);
  const held = { from: size, bytes: Buffer.alloc(0) };
  const { end, bytes } = endingOf(stream, false, readerOf(fd, held), size);
  return end === size && bytes.length === 0;
}

/** Shows a stream with its ending, and the metadata of its end. */
function showEnded({ view, stream, fd }: ShownStream, held: FileView, hasRing: boolean): void {
  const end = held.from + held.bytes.length;
  const ending = endingOf(stream, hasRing, readerOf(fd, held), end);
  view.show(fd, withEnding(held, ending));
  if (versionOf(stream) === 3) showFinishedMetadata(view, stream);
}

function showFinishedMetadata(view: TraceView, stream: string): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(finishedMetadataOf(stream));
  } catch {
    // A recovery without a ring has renamed it already, or another library wrote the stream.
    return;
  }
  view.ofFile(metadataOf(stream), (fd) => {
    view.show(fd, { from: 0, bytes });
  });
}
