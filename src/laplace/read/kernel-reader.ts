import { checkPath, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError } from '../../core/errors.js';
import { FileWindow } from '../../core/files/file-window.js';
import type { Progress } from '../../core/finding.js';
import { digitValue } from '../hexadecimal.js';
import {
  END_TAG,
  FIELD_DIGITS,
  isTag,
  kernelEventShapes,
  LONGEST_LINE,
  LONGEST_NAME,
} from '../kernel-event-kinds.js';
import type {
  kernelEventKinds,
  KernelEventKind,
  KernelEventShape,
  kernelFields,
} from '../kernel-event-kinds.js';
import { NEWLINE, SPACE, TIMESTAMP_DIGITS } from '../layout.js';

/** The value of each field type. */
interface FieldReadings {
  u32: number;
  u64: bigint;
  name: string;
}

/** A record of one kind. */
export type KernelEventOf<Kind extends KernelEventKind> = {
  kind: Kind;
  tag: (typeof kernelEventKinds)[Kind]['tag'];
  timestamp: bigint;
  /** Bytes from the start of the file to the line. */
  offset: number;
} & {
  [
    Name in (typeof kernelEventKinds)[Kind]['fields'][number]
  ]: FieldReadings[(typeof kernelFields)[Name]];
};

/** The last record of a complete kernel trace. */
export interface KernelTraceEnd {
  kind: 'end';
  tag: 'c';
  offset: number;
}

/** An event that the catalog does not have. */
export interface OtherKernelEvent {
  kind: 'event';
  /** One printable ASCII character. */
  tag: string;
  timestamp: bigint;
  /** The text after the timestamp and one space. */
  rest: string;
  /** Bytes from the start of the file to the line. */
  offset: number;
}

/** One record of a kernel trace; `kind` distinguishes them. */
export type KernelEvent =
  | { [Kind in KernelEventKind]: KernelEventOf<Kind> }[KernelEventKind]
  | OtherKernelEvent
  | KernelTraceEnd;

/** Options of the reader of kernel traces. */
export interface ReadKernelEventOptions {
  /** Called from time to time with the bytes read and the total. */
  onProgress?: Progress | undefined;
}

const PROGRESS_LINES = 4096;
const CHUNK_BYTES = 1 << 18;
const END = END_TAG.charCodeAt(0);

const shapesByTag = new Map<number, KernelEventShape>(
  kernelEventShapes.map((shape) => [shape.tag.charCodeAt(0), shape]),
);

/** Parses the fields of one line in order. */
class LineScanner {
  readonly #path: string;
  readonly #line: Buffer;
  readonly #offset: number;
  #at = 1;

  constructor(path: string, line: Buffer, offset: number) {
    this.#path = path;
    this.#line = line;
    this.#offset = offset;
  }

  get done(): boolean {
    return this.#at === this.#line.length;
  }

  number(field: string, digits: number): bigint {
    const from = this.#separator(field);
    const line = this.#line;
    let end = from;
    while (end < line.length && digitValue[line[end]!]! < 16) end += 1;
    if (end === from || end - from > digits || (end < line.length && line[end] !== SPACE)) {
      throw this.fault(field, `1 to ${digits} hexadecimal digits`, from);
    }
    this.#at = end;
    return BigInt(`0x${line.toString('latin1', from, end)}`);
  }

  /** Reads the rest of the line; a name has at least one byte. */
  text(field: string, least: number): string {
    const from = this.#separator(field);
    const count = this.#line.length - from;
    if (count < least || count > LONGEST_NAME || this.#line.includes(0, from)) {
      throw this.fault(field, `${least} to ${LONGEST_NAME} bytes without NUL`, from);
    }
    this.#at = this.#line.length;
    return this.#line.toString('utf8', from);
  }

  fault(field: string, limit: string, from = this.#at): TraceFormatError {
    const value = this.#line.toString('latin1', from, from + 40);
    return new TraceFormatError(
      this.#path,
      this.#offset,
      `${field} must be ${limit}, got ${JSON.stringify(value)}`,
      { field, value, limit },
    );
  }

  #separator(field: string): number {
    if (this.#line[this.#at] !== SPACE) {
      throw this.fault(field, 'present, after one space');
    }
    return this.#at + 1;
  }
}

/** Parses a line without its newline. */
function parseLine(path: string, line: Buffer, offset: number): KernelEvent {
  const scanner = new LineScanner(path, line, offset);
  if (line[0] === END) {
    if (!scanner.done) throw scanner.fault('end', 'alone in its line');
    return { kind: 'end', tag: 'c', offset };
  }
  const tag = line[0] ?? SPACE;
  if (!isTag(tag)) throw scanner.fault('tag', 'one printable ASCII character', 0);
  const shape = shapesByTag.get(tag);
  if (shape === undefined) {
    const timestamp = scanner.number('timestamp', TIMESTAMP_DIGITS);
    const rest = scanner.done ? '' : scanner.text('rest', 0);
    return { kind: 'event', tag: String.fromCharCode(tag), timestamp, rest, offset };
  }
  const event: Record<string, unknown> = {
    kind: shape.kind,
    tag: shape.tag,
    timestamp: scanner.number('timestamp', TIMESTAMP_DIGITS),
    offset,
  };
  for (const { name, type } of shape.fields) {
    if (type === 'name') event[name] = scanner.text(name, 1);
    else {
      const value = scanner.number(name, FIELD_DIGITS[type]);
      event[name] = type === 'u32' ? Number(value) : value;
    }
  }
  if (!scanner.done) throw scanner.fault('line', 'at its end');
  return event as unknown as KernelEvent;
}

/**
 * Reads a kernel event trace from front to back, in bounded memory. The last record of a complete
 * trace is its end (`c`).
 *
 * @throws TraceFormatError at the first invalid line, with its offset and field. The records before it
 *   were yielded. TracewrightError `ERR_SYSTEM` when the file cannot be read.
 */
export function* readKernelEvents(
  path: string,
  options: ReadKernelEventOptions = {},
): Generator<KernelEvent, void> {
  options = ownOptions(options, ['onProgress']);
  const { onProgress } = options;
  checkPath('path', path);
  const window = new FileWindow(path, CHUNK_BYTES);
  try {
    let ended = false;
    let untilProgress = 1;
    while (window.remaining > 0) {
      const { offset } = window;
      if (--untilProgress === 0) {
        onProgress?.(offset, window.size);
        untilProgress = PROGRESS_LINES;
      }
      if (ended) {
        throw new TraceFormatError(path, offset, `nothing may follow the end (${END_TAG})`, {
          field: 'end',
          limit: 'the last record',
        });
      }
      const line = nextLine(window);
      const event = parseLine(path, line, offset);
      ended = event.kind === 'end';
      yield event;
    }
    onProgress?.(window.offset, window.size);
  } finally {
    window.close();
  }
}

/** Reads single records of a kernel trace, wherever they lie. */
export class KernelRecords {
  readonly #window: FileWindow;

  constructor(path: string) {
    this.#window = new FileWindow(path, CHUNK_BYTES);
  }

  /** @throws TraceFormatError if no valid line lies there. */
  at(offset: number): KernelEvent {
    this.#window.seek(offset);
    const { path } = this.#window;
    return parseLine(path, nextLine(this.#window), offset);
  }

  close(): void {
    this.#window.close();
  }
}

/** The next line without its newline. Moves the window to the end of the line. */
function nextLine(window: FileWindow): Buffer {
  const { offset, path, remaining } = window;
  for (let bytes = Math.min(remaining, 256); ; bytes = Math.min(remaining, LONGEST_LINE)) {
    const piece = window.peek(bytes);
    const end = piece?.indexOf(NEWLINE) ?? -1;
    if (piece !== undefined && end !== -1) {
      window.skip(end + 1);
      return piece.subarray(0, end);
    }
    // The specification shows the end without a newline.
    if (piece?.length === 1 && remaining === 1 && piece[0] === END) {
      window.skip(1);
      return piece;
    }
    if (piece === undefined || bytes === remaining) {
      throw new TraceFormatError(
        path,
        offset,
        'the file ends inside a line: its newline is missing',
        { field: 'line', limit: 'a newline at the end' },
      );
    }
    if (bytes === LONGEST_LINE) {
      throw new TraceFormatError(path, offset, `a line must be at most ${LONGEST_LINE} bytes`, {
        field: 'line',
        limit: `at most ${LONGEST_LINE} bytes`,
      });
    }
  }
}
