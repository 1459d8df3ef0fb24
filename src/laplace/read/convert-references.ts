import type { Readable, Writable } from 'node:stream';
import type { Progress } from '../../core/finding.js';
import { openSink, openSource } from './byte-streams.js';
import type { ByteSink, ByteSource } from './byte-streams.js';
import { RECORD_BYTES } from '../layout.js';
import type { Endian } from '../layout.js';
import { ReferenceFormatter } from '../reference-lines.js';
import { firstWrongType } from '../reference-values.js';
import { cutLine, cutRecord, wrongTypeAt } from './reference-faults.js';
import { ReferenceParser } from './reference-parser.js';
import { oneOf, ownOptions } from '../../core/options/argument.js';

/** Options of a conversion. */
export interface ConvertReferencesOptions {
  /** Byte order of the binary trace, which does not say it. Default `little`. */
  endian?: Endian;
  /** If the file exists: throw an error (`error`, default), or replace it (`replace`). */
  exists?: 'error' | 'replace';
  /** Called from time to time with the bytes read and the total, which is 0 for a stream. */
  onProgress?: Progress | undefined;
}

/** The result of a conversion. */
export interface ReferenceConversion {
  records: number;
  /** Bytes written. */
  bytes: number;
}

const CHUNK_RECORDS = 1 << 15;
const CHUNK_TEXT_BYTES = 1 << 20;

/** Runs a conversion between a source and a sink, and closes both. */
async function convert(
  from: string | Readable,
  to: string | Writable,
  options: ConvertReferencesOptions,
  run: (source: ByteSource, sink: ByteSink, little: boolean) => Promise<ReferenceConversion>,
): Promise<ReferenceConversion> {
  options = ownOptions(options, ['endian', 'exists', 'onProgress']);
  const endian = oneOf('endian', options.endian ?? 'little', ['little', 'big']);
  const exists = oneOf('exists', options.exists ?? 'error', ['error', 'replace']);
  const source = await openSource(from);
  try {
    const sink = await openSink(to, source, exists);
    try {
      return await run(source, sink, endian === 'little');
    } finally {
      await sink.close();
    }
  } finally {
    await source.close();
  }
}

/**
 * Converts a binary reference trace to text, as Laplace's raw-reference-binary-to-text does. Memory is
 * bounded for a trace of any length.
 *
 * @param from a file, or a stream such as `process.stdin`.
 * @param to a file, or a stream such as `process.stdout`, which stays open.
 * @throws TraceFormatError at the first invalid record, or an incomplete one at the end. Everything
 *   before it was written. TracewrightError `ERR_TRACE_EXISTS` when `to` exists, `ERR_SYSTEM` when
 *   reading or writing fails.
 */
export function referencesToText(
  from: string | Readable,
  to: string | Writable,
  options: ConvertReferencesOptions = {},
): Promise<ReferenceConversion> {
  return convert(from, to, options, async (source, sink, little) => {
    const formatter = new ReferenceFormatter(little, CHUNK_RECORDS);
    const records = Buffer.allocUnsafe(CHUNK_RECORDS * RECORD_BYTES);
    const view = new DataView(records.buffer, records.byteOffset, records.length);
    const result = { records: 0, bytes: 0 };
    for (let held = 0, offset = 0; ;) {
      const read = await source.read(records.subarray(held));
      held += read;
      if (read === 0) {
        if (held > 0) throw cutRecord(source.path, offset, held);
        return result;
      }
      const whole = Math.floor(held / RECORD_BYTES);
      const count = firstWrongType(records, 0, whole);
      const text = formatter.format(view, 0, count);
      if (text.length > 0) await sink.write(text);
      result.records += count;
      result.bytes += text.length;
      if (count < whole) {
        const at = count * RECORD_BYTES;
        throw wrongTypeAt(source.path, offset + at, records[at]!);
      }
      records.copyWithin(0, whole * RECORD_BYTES, held);
      offset += whole * RECORD_BYTES;
      held -= whole * RECORD_BYTES;
      options.onProgress?.(offset, source.total);
    }
  });
}

/**
 * Converts a reference trace in text to a binary one, in bounded memory. Digits of either case and
 * leading zeros are accepted.
 *
 * @param from a file, or a stream such as `process.stdin`.
 * @param to a file, or a stream such as `process.stdout`, which stays open.
 * @throws TraceFormatError at the first line that is not a reference, or that has no newline.
 *   Everything before it was written. TracewrightError as {@link referencesToText}.
 */
export function textToReferences(
  from: string | Readable,
  to: string | Writable,
  options: ConvertReferencesOptions = {},
): Promise<ReferenceConversion> {
  return convert(from, to, options, async (source, sink, little) => {
    const parser = new ReferenceParser(source.path, little, CHUNK_TEXT_BYTES);
    const text = Buffer.allocUnsafe(CHUNK_TEXT_BYTES);
    const result = { records: 0, bytes: 0 };
    for (let held = 0, offset = 0; ;) {
      const read = await source.read(text.subarray(held));
      held += read;
      if (read === 0) {
        if (held > 0) throw cutLine(source.path, offset);
        return result;
      }
      const count = parser.parse(text.subarray(0, held), offset);
      const records = parser.records.subarray(0, count * RECORD_BYTES);
      if (count > 0) await sink.write(records);
      result.records += count;
      result.bytes += records.length;
      if (parser.fault !== undefined) throw parser.fault;
      text.copyWithin(0, parser.consumed, held);
      offset += parser.consumed;
      held -= parser.consumed;
      options.onProgress?.(offset, source.total);
    }
  });
}
