import { outOfRange } from '../core/errors.js';
import { END_OF_STREAM_LABEL } from './calls.js';
import {
  FOOTER_MAGIC,
  INDEX_ENTRIES,
  MAGIC,
  MAX_STRING_BYTES,
  MESH_SIZE_VERSION,
} from './layout.js';
import type { SectionName } from './layout.js';
import { isAtLeast } from './sections.js';
import type { FunctionName, Footer, Header } from './sections.js';

/** Sections after the calls of a trace file. An undefined one is not in the index. */
interface SectionContents {
  header: Header;
  footer: Footer;
  keyvals: readonly (readonly [key: string, value: string])[];
  counterLabels: readonly string[] | undefined;
  datatypeSizes: readonly number[] | undefined;
  /** Function names that {@link encodeFunctionName} has laid down, or undefined. */
  functionNames: { count: number } | undefined;
}

/** A growing list of fields. */
class FieldWriter {
  #bytes = Buffer.alloc(4096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  take(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.alloc(2 * this.#length);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    return at;
  }

  i8(value: number): void {
    const at = this.take(1);
    this.#bytes.writeInt8(value, at);
  }

  u16(value: number): void {
    const at = this.take(2);
    this.#bytes.writeUInt16BE(value, at);
  }

  u32(value: number): void {
    const at = this.take(4);
    this.#bytes.writeUInt32BE(value, at);
  }

  i32(value: number): void {
    const at = this.take(4);
    this.#bytes.writeInt32BE(value, at);
  }

  u64(value: bigint): void {
    const at = this.take(8);
    this.#bytes.writeBigUInt64BE(value, at);
  }

  string(text: string): void {
    const bytes = Buffer.from(text);
    this.u16(bytes.length);
    const at = this.take(bytes.length);
    bytes.copy(this.#bytes, at);
  }

  i32s(values: readonly number[]): void {
    this.i32(values.length);
    for (const value of values) this.i32(value);
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** Refuses a text that a string of the sections cannot hold. */
export function checkSectionString(field: string, text: string): void {
  const limit = `a string of at most ${MAX_STRING_BYTES} bytes without NUL`;
  if (Buffer.byteLength(text) > MAX_STRING_BYTES || text.includes('\0')) {
    throw outOfRange(field, text, limit);
  }
}

/** One entry of the function names: u64 address, string. */
export function encodeFunctionName({ address, name }: FunctionName): Buffer {
  const writer = new FieldWriter();
  writer.u64(address);
  writer.string(name);
  return writer.finish();
}

/**
 * The end of the stream and everything after it.
 *
 * @param bodyEnd bytes from the start of the file to the end of the last call.
 * @returns what comes before the entries of the function names, and what comes after them.
 */
export function encodeSections(
  bodyEnd: number,
  contents: SectionContents,
  bodyOffset: number,
): { before: Buffer; after: Buffer } {
  const { header, footer, keyvals, counterLabels, datatypeSizes, functionNames } = contents;
  const offsets: Partial<Record<SectionName, number>> = { body: bodyOffset };
  const writer = new FieldWriter();
  const begin = (name: SectionName): void => {
    offsets[name] = bodyEnd + writer.length;
  };

  writer.u16(END_OF_STREAM_LABEL);
  begin('header');
  for (const part of header.version) writer.i8(part);
  writer.u64(header.startTime);
  writer.string(header.hostname);
  writer.string(header.username);
  writer.i32s(header.meshCoordinates);
  if (isAtLeast(header.version, MESH_SIZE_VERSION)) writer.i32s(header.meshSizes);

  begin('footer');
  writer.u64(FOOTER_MAGIC);
  for (const count of footer.calls) writer.u32(count);
  for (const count of footer.ignored) writer.u32(count);

  begin('keyvals');
  writer.u32(keyvals.length);
  for (const [key, value] of keyvals) {
    writer.string(key);
    writer.string(value);
  }
  // The section is there, but an empty one is not indexed.
  if (keyvals.length === 0) offsets.keyvals = 0;

  if (counterLabels !== undefined) {
    begin('counterLabels');
    writer.i32(counterLabels.length);
    for (const label of counterLabels) writer.string(label);
  }
  if (datatypeSizes !== undefined) {
    begin('datatypeSizes');
    writer.i32s(datatypeSizes);
  }
  if (functionNames !== undefined) {
    begin('functionNames');
    writer.i32(functionNames.count);
  }

  const index = new FieldWriter();
  index.u64(MAGIC);
  for (const name of INDEX_ENTRIES) {
    const offset = offsets[name];
    if (offset !== undefined) index.u64(BigInt(offset));
  }
  return { before: writer.finish(), after: index.finish() };
}
