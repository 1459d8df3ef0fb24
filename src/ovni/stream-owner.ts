import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { replaceFile } from '../core/files/replace-file.js';
import { readBoundedJson } from '../core/files/bounded-json.js';
import { ownIdentity } from '../core/recovery/process-identity.js';
import type { ProcessIdentity } from '../core/recovery/process-identity.js';
import type { JsonObject, JsonValue } from '../core/json.js';

/**
 * The key under which the metadata of an unfinished stream says who writes it: in `ovni.lib` of
 * version 3's `stream.json`, in `tracewright.threads.<tid>.ovni` of version 1's `metadata.json`.
 */
export const WRITER = 'writer';

/** The process that writes a stream, and where its ring lies. */
export interface StreamOwner extends ProcessIdentity {
  ring: string;
}

function objectIn(json: JsonValue | undefined, ...keys: string[]): JsonObject | undefined {
  let value = json;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/**
 * The owners of a trace's streams, from its metadata. A file of version 1 has those of many threads:
 * it is read once, and written once at the end.
 */
export class StreamOwners {
  readonly #files = new Map<string, { json: JsonObject | undefined; changed: boolean }>();

  /** Undefined for a stream that is finished, or that another library writes. */
  ownerOf(stream: string): StreamOwner | undefined {
    const writer = objectIn(this.#holderOf(stream), WRITER);
    if (writer === undefined) return undefined;
    const { pid, start, boot, ring } = writer;
    return Number.isSafeInteger(pid) &&
      typeof start === 'string' &&
      typeof boot === 'string' &&
      typeof ring === 'string'
      ? { pid: pid as number, start, boot, ring }
      : undefined;
  }

  /** Whether the stream may hold marks that are pushed and popped. */
  mayPushMarks(stream: string): boolean {
    const holder = this.#holderOf(stream);
    const { json } = this.#fileOf(stream);
    const ovni = basename(stream) === 'stream.obs' ? objectIn(json, 'ovni') : holder;
    if (ovni === undefined) return true;
    return Object.values(objectIn(ovni, 'mark') ?? {}).some(
      (mark) => objectIn(mark)?.['chan_type'] !== 'single',
    );
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
    this.#files.delete(join(dirname(stream), 'stream.json'));
  }

  /** Brings what was released to disk. */
  save(): void {
    for (const [path, file] of this.#files) {
      if (file.changed) replaceFile(path, `${JSON.stringify(file.json)}\n`);
      file.changed = false;
    }
  }

  #fileOf(stream: string): { json: JsonObject | undefined; changed: boolean } {
    const name = basename(stream) === 'stream.obs' ? 'stream.json' : 'metadata.json';
    const path = join(dirname(stream), name);
    let file = this.#files.get(path);
    if (file === undefined) {
      file = { json: readJson(path), changed: false };
      this.#files.set(path, file);
    }
    return file;
  }

  /** The object that may name the writer of a stream. */
  #holderOf(stream: string): JsonObject | undefined {
    const { json } = this.#fileOf(stream);
    return basename(stream) === 'stream.obs'
      ? objectIn(json, 'ovni', 'lib')
      : objectIn(json, 'tracewright', 'threads', basename(stream).slice('thread.'.length), 'ovni');
  }
}

function readJson(path: string): JsonObject | undefined {
  try {
    return objectIn(readBoundedJson(path) as JsonValue);
  } catch {
    // Whoever reads the trace says so; here it only means that nobody is named.
    return undefined;
  }
}

/** Whether the ring that an owner names is still there: then it holds what the stream lacks. */
export function ringIsThere({ ring }: StreamOwner): boolean {
  return existsSync(ring);
}

/**
 * Whether a ring that is not there may lie somewhere else by now: its directory, one that was set
 * aside for rings, has gone or cannot be told, and the machine has not been started again since.
 */
export function ringMayBeElsewhere({ ring, boot }: StreamOwner): boolean {
  if (basename(ring).startsWith('.') || boot !== ownIdentity().boot) return false;
  return !isAbsolute(ring) || !existsSync(dirname(ring));
}
