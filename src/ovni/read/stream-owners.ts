import { entryOf } from '../../core/map-entries.js';
import { isText, objectOf, readBoundedJson } from '../../core/files/untrusted-json.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { replaceFile } from '../../core/native-calls.js';
import { metadataOf, threadDigitsOf, versionOf } from '../file-names.js';
import { WRITER } from '../metadata-keys.js';
import type { StreamOwner } from '../metadata-keys.js';
import { objectIn } from './metadata.js';

const isOwner = objectOf<Omit<StreamOwner, 'pidNamespace'>>({
  pid: Number.isSafeInteger,
  start: isText,
  boot: isText,
  ring: isText,
});

/**
 * The owners of a trace's streams, from its metadata. A file of version 1 names those of many threads,
 * so it is read once and written once, by {@link save}.
 */
export class StreamOwners {
  readonly #files = new Map<string, { json: JsonObject | undefined; changed: boolean }>();

  /** Undefined for a stream that is finished, or that another library writes. */
  ownerOf(stream: string): StreamOwner | undefined {
    const writer: unknown = objectIn(this.#holderOf(stream), WRITER);
    if (!isOwner(writer)) return undefined;
    const { pid, start, boot, ring } = writer;
    return { pid, start, boot, ring };
  }

  /** Notes that a stream needs no owner any more. */
  release(stream: string): void {
    const holder = this.#holderOf(stream);
    if (holder?.[WRITER] === undefined) return;
    holder[WRITER] = undefined;
    this.#fileOf(stream).changed = true;
  }

  /** The metadata of this stream has been replaced by that of its end. */
  replaced(stream: string): void {
    this.#files.delete(metadataOf(stream));
  }

  /** Writes what was released to disk. */
  save(): void {
    for (const [path, file] of this.#files) {
      if (file.changed) replaceFile(path, `${JSON.stringify(file.json)}\n`);
      file.changed = false;
    }
  }

  #fileOf(stream: string): { json: JsonObject | undefined; changed: boolean } {
    const path = metadataOf(stream);
    return entryOf(this.#files, path, () => ({ json: readJson(path), changed: false }));
  }

  /** The object that may name the owner of a stream. */
  #holderOf(stream: string): JsonObject | undefined {
    const { json } = this.#fileOf(stream);
    return versionOf(stream) === 3
      ? objectIn(json, 'ovni', 'lib')
      : objectIn(json, 'tracewright', 'threads', threadDigitsOf(stream), 'ovni');
  }
}

function readJson(path: string): JsonObject | undefined {
  try {
    return objectIn(readBoundedJson(path) as JsonValue);
  } catch {
    // A reader of the trace reports it. Here it means that no owner is known.
    return undefined;
  }
}
