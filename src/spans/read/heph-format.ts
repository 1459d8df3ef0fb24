import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import { headOfFile } from '../../core/files/regular-file.js';
import { cutEndAt, EXTENSION, fileOfRing, piecesAmong } from '../../heph/file-names.js';
import { attributesAt } from '../../heph/layout.js';
import { checkEndOfFile, checkPackets } from '../../heph/read/check.js';
import { LARGE_BYTES } from '../../heph/read/event-bytes.js';
import type { EventCheck } from '../../heph/read/check.js';
import { lossesOf } from '../../heph/read/cut-ends.js';
import { dumpLine, dumpObject, dumpPieces } from '../../heph/read/dump.js';
import { traceOf } from '../../heph/read/living-pass.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import { EVENT_BYTES, METADATA_BYTES } from '../../heph/read/packet-head.js';
import { readEpoch, readPackets } from '../../heph/read/reader.js';
import { recoverCounting } from '../../heph/read/recover.js';
import { traceViewer } from '../../heph/read/view-trace.js';
import type { TraceFormat } from '../../rows/trace-format.js';
import { readRows } from './rows.js';
import { SpanDecoder } from './span-decoder.js';
import { damagedIdentity, headAt, VERSION_HEAD } from './span-identity.js';
import { spanLine, spanObject, spanPieces } from './span-text.js';

function beginsWithMagic(path: string): boolean {
  const head = headOfFile(path, EVENT_BYTES.length);
  return EVENT_BYTES.equals(head) || METADATA_BYTES.equals(head);
}

/** Files with the extension, and files of which only rings may exist. */
function tracesIn(directory: string, ringed: readonly string[]): string[] {
  const named = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(EXTENSION))
    .map((entry) => join(directory, entry.name));
  return [...new Set([...named, ...ringed])].sort();
}

/** The check of readers of spans, for events that are right by the format. */
function spanCheck(path: string): EventCheck {
  const decoder = new SpanDecoder(path);
  return {
    rule: 'span-contract',
    faultOf(cursor) {
      try {
        const span = decoder.decode(cursor);
        return span === undefined ? lostIdentity(path, cursor) : undefined;
      } catch (error) {
        if (error instanceof TraceFormatError) return error;
        throw error;
      }
    },
  };
}

/** Whether it is nearly a span: readers take it for a plain event. */
function lostIdentity(path: string, { view, position, size, offset }: PacketCursor) {
  const [field] = damagedIdentity(view, attributesAt(view, position), position + size);
  if (field === undefined) return undefined;
  const message = `the span's attribute ${field} is damaged, so that it is read as a plain event`;
  return new TraceFormatError(path, offset, message, { field });
}

/** A packet for a person or a program, a large one in pieces; undefined if it is refused. */
function lineOf(
  cursor: PacketCursor,
  decoder: SpanDecoder,
  json: boolean,
): string | Iterable<string> | undefined {
  let span;
  try {
    // Also of what another event defines the decoder takes note.
    if (cursor.isEvent) span = decoder.decode(cursor);
  } catch (error) {
    // What violates the contract is refused, and shown as it is.
    cursor.refuse(error);
  }
  if (span !== undefined) {
    if (cursor.size > LARGE_BYTES) return spanPieces(span, cursor, json);
    return json ? JSON.stringify(spanObject(span, cursor)) : spanLine(span, cursor);
  }
  try {
    if (cursor.isEvent && cursor.size > LARGE_BYTES) {
      const { event, attributes } = cursor.largeEvent();
      return dumpPieces(event, attributes, json);
    }
    const packet = cursor.packet();
    return json ? JSON.stringify(dumpObject(packet)) : dumpLine(packet);
  } catch (error) {
    cursor.refuse(error);
    return undefined;
  }
}

/** The life of a thread is open as long as it runs, and is no span. */
function isNoNote(event: Buffer): boolean {
  const view = new DataView(event.buffer, event.byteOffset, event.length);
  return headAt(view, attributesAt(view, 0), event.length) !== VERSION_HEAD;
}

/** Heph: files, recognized by their extension or by the magic number of their first packet. */
export const hephFormat: TraceFormat = {
  name: 'Heph',
  clock: "the time since the trace's epoch",
  rings: {
    isFormat: (format) => format === 'heph',
    isRing: (path) => fileOfRing(path) !== undefined,
    fileOf: fileOfRing,
    fileOfCut: (path) => cutEndAt(path)?.file,
    areAllThereIs: true,
  },
  isTraceFile: (path) => path.endsWith(EXTENSION) || beginsWithMagic(path),
  tracesIn,
  piecesOf: (path, ringed) => piecesAmong(tracesIn(dirname(path), ringed), path),
  *dump(path, json, { onProgress, onFault }) {
    const decoder = new SpanDecoder(path, { isOfTrace: true, onDemand: true });
    const cursor = new PacketCursor(path, { onFault, onProgress });
    try {
      while (cursor.next()) {
        const line = lineOf(cursor, decoder, json);
        if (line !== undefined) yield line;
      }
    } finally {
      cursor.close();
    }
  },
  check: (path, { onProgress }) =>
    checkPackets(path, onProgress ? { onProgress } : {}, spanCheck(path)),
  lossesOf,
  checkEnd: checkEndOfFile,
  open(path) {
    for (const packet of readPackets(path)) if (packet.offset === 0) return;
  },
  unfinishedRules: ['no-epoch', 'no-events', 'converter-last-epoch'],
  openThing: 'span',
  recover: (path, options) => recoverCounting(path, options, isNoNote),
  traceViewer,
  rows: readRows,
  content: 'spans',
  traceOf,
  epoch: readEpoch,
  // A trace begins shortly after its epoch.
  firstTime: () => 0n,
};
