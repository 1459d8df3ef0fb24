import { readBoundedJson } from '../../core/files/untrusted-json.js';
import { TraceFormatError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';

/** Reports a fault of a file, and the name of the wrong field. */
export type Fault = (path: string, message: string, field?: string) => void;

export interface Cpu {
  /** Logical number in the loom, 0 to N-1. */
  readonly index: number;
  /** The number that the operating system gives it. */
  readonly phyid: number;
}

export interface MarkType {
  readonly title: string;
  /** `stack`: values are pushed and popped. `single`: one value replaces another. */
  readonly channel: 'stack' | 'single';
  readonly labels: ReadonlyMap<bigint, string>;
}

/** `metadata.json` of version 1. */
export interface ProcessMetadata {
  readonly appId: number | undefined;
  readonly rank: number | undefined;
  readonly nranks: number | undefined;
  readonly cpus: readonly Cpu[] | undefined;
  /** The object that all of this was read from. */
  readonly json: JsonObject;
}

/** Metadata of one thread, of either version; undefined where the trace has none. */
export interface ThreadMetadata extends ProcessMetadata {
  readonly libraryVersion: string | undefined;
  readonly libraryCommit: string | undefined;
  /**
   * Nanoseconds from the Unix epoch to the clock's zero: `ovni.lib.epoch`, or `tracewright.epoch` of
   * version 1. Only Tracewright writes it.
   */
  readonly epoch: bigint | undefined;
  /** Model names with the versions that the thread requires. */
  readonly require: ReadonlyMap<string, string> | undefined;
  readonly marks: ReadonlyMap<number, MarkType>;
  /** Whether the stream was written to its end. */
  readonly finished: boolean;
  /** Everything outside ovni's own keys. */
  readonly attributes: JsonObject;
}

/** `stream.json` of version 3: whose stream it is, and the rest. */
interface StreamMetadata {
  readonly loom: string;
  readonly pid: number;
  readonly tid: number;
  readonly thread: ThreadMetadata;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that lies in another below some keys; undefined: there is none. */
export function objectIn(json: JsonValue | undefined, ...keys: string[]): JsonObject | undefined {
  let value = json;
  for (const key of keys) {
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isObject(value) ? value : undefined;
}

/** Why a file cannot be read, without its name. */
export function causeOf(error: unknown): string {
  return error instanceof TraceFormatError ? error.fault : (error as Error).message;
}

/** Reads fields of one JSON object, and reports each that has a wrong value. */
class Fields {
  readonly json: JsonObject;
  readonly #report: (message: string, field: string) => void;
  readonly #prefix: string;

  constructor(json: JsonObject, report: (message: string, field: string) => void, prefix = '') {
    this.json = json;
    this.#report = report;
    this.#prefix = prefix;
  }

  /** The fields of the object that is a field of this one. */
  within(key: string, json = this.object(key) ?? {}): Fields {
    return new Fields(json, this.#report, `${this.#prefix}${key}.`);
  }

  /** @param path of the value that is wrong, if it lies below the field. */
  fault(key: string, fault: string, path = key): void {
    this.#report(`${this.#prefix}${path} ${fault}`, this.#prefix + key);
  }

  wrong(key: string, expected: string): void {
    const shown = JSON.stringify(this.get(key)) as string | undefined;
    this.fault(key, `must be ${expected}, got ${(shown ?? 'nothing').slice(0, 60)}`);
  }

  /** Whether a field is there. */
  needs(key: string, expected: string): boolean {
    const has = this.get(key) !== undefined;
    if (!has) this.wrong(key, expected);
    return has;
  }

  get(key: string): JsonValue | undefined {
    return Object.hasOwn(this.json, key) ? this.json[key] : undefined;
  }

  integer(key: string, least: number): number | undefined {
    const isInteger = (value: JsonValue): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) < 2 ** 31;
    return this.#typed(key, isInteger, `an integer from ${least} to 2147483647`);
  }

  string(key: string): string | undefined {
    return this.#typed(key, (value) => typeof value === 'string', 'a string');
  }

  object(key: string): JsonObject | undefined {
    return this.#typed(key, isObject, 'an object');
  }

  #typed<T extends JsonValue>(
    key: string,
    isOne: (value: JsonValue) => value is T,
    expected: string,
  ): T | undefined {
    const value = this.get(key);
    if (value === undefined || isOne(value)) return value;
    this.wrong(key, expected);
    return undefined;
  }

  cpus(key: string): readonly Cpu[] | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length === 0) {
      this.wrong(key, 'an array of at least one {index, phyid}');
      return undefined;
    }
    const cpus: Cpu[] = [];
    for (const [at, item] of value.entries()) {
      if (!isObject(item)) {
        this.fault(key, 'must be an object', `${key}[${at}]`);
        continue;
      }
      const fields = this.within(`${key}[${at}]`, item);
      const index = fields.integer('index', 0);
      const phyid = fields.integer('phyid', 0);
      if (index !== undefined && phyid !== undefined) cpus.push({ index, phyid });
      else if (fields.needs('index', 'an integer')) fields.needs('phyid', 'an integer');
    }
    return cpus;
  }
}

/** The fields of a file of metadata; undefined: it cannot be read, or is of another version. */
function fieldsIn(path: string, version: number, fault: Fault): Fields | undefined {
  let value: JsonValue;
  try {
    value = readBoundedJson(path) as JsonValue;
  } catch (error) {
    fault(path, causeOf(error));
    return undefined;
  }
  if (!isObject(value)) {
    fault(path, 'the metadata is not a JSON object');
    return undefined;
  }
  const fields = fieldsOf(path, value, fault);
  if (value['version'] === version) return fields;
  fields.wrong('version', String(version));
  return undefined;
}

function fieldsOf(path: string, json: JsonObject, fault: Fault): Fields {
  return new Fields(json, (message, field) => {
    fault(path, message, field);
  });
}

/** An i64 in decimal: a key of `labels`. */
function parseI64(text: string): bigint | undefined {
  if (!/^-?[0-9]{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

function parseEpoch(value: JsonValue | undefined): bigint | undefined {
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : undefined;
}

function readMarks(all: Fields): Map<number, MarkType> {
  const marks = new Map<number, MarkType>();
  for (const [key, value] of Object.entries(all.json)) {
    if (!/^[0-9]{1,2}$/.test(key) || !isObject(value)) {
      all.fault(key, 'must be a mark type from 0 to 99 with an object');
      continue;
    }
    const fields = all.within(key, value);
    const title = fields.string('title');
    const channel = fields.string('chan_type');
    const labelsJson = fields.object('labels');
    fields.needs('title', 'a string');
    if (channel !== 'stack' && channel !== 'single') {
      if (channel !== undefined || fields.get('chan_type') === undefined) {
        fields.wrong('chan_type', '"stack" or "single"');
      }
      continue;
    }
    if (title === undefined) continue;
    const labels = new Map<bigint, string>();
    for (const [valueKey, label] of Object.entries(labelsJson ?? {})) {
      const number = parseI64(valueKey);
      if (number === undefined || typeof label !== 'string') {
        fields.fault('labels', 'must be an i64 with a string', `labels.${valueKey}`);
        continue;
      }
      labels.set(number, label);
    }
    marks.set(Number(key), { title, channel, labels });
  }
  return marks;
}

function readThread(top: Fields): ThreadMetadata {
  const ovni = top.within('ovni');
  const lib = ovni.within('lib');
  const requireJson = ovni.object('require');
  return {
    appId: ovni.integer('app_id', 1),
    rank: ovni.integer('rank', 0),
    nranks: ovni.integer('nranks', 1),
    cpus: ovni.cpus('loom_cpus'),
    libraryVersion: lib.string('version'),
    libraryCommit: lib.string('commit'),
    epoch: parseEpoch(lib.get('epoch')),
    // The emulator ignores a version that is no string, and unknown models.
    require:
      requireJson &&
      new Map(
        Object.entries(requireJson).filter(
          (each): each is [string, string] => typeof each[1] === 'string',
        ),
      ),
    marks: readMarks(ovni.within('mark')),
    finished: ovni.get('finished') === 1,
    attributes: Object.fromEntries(
      Object.entries(top.json).filter(([key]) => key !== 'ovni' && key !== 'version'),
    ),
    json: top.json,
  };
}

/**
 * Reads `stream.json` of version 3. Undefined if it does not identify the stream's thread.
 */
export function readStreamMetadata(path: string, fault: Fault): StreamMetadata | undefined {
  const fields = fieldsIn(path, 3, fault);
  if (fields === undefined) return undefined;
  const ovni = fields.within('ovni');
  if (ovni.string('part') !== 'thread') {
    ovni.wrong('part', '"thread"');
    return undefined;
  }
  const tid = ovni.integer('tid', 1);
  const pid = ovni.integer('pid', 1);
  const loom = ovni.string('loom');
  ovni.needs('tid', 'an integer');
  ovni.needs('pid', 'an integer');
  ovni.needs('loom', 'a string');
  if (tid === undefined || pid === undefined || loom === undefined) return undefined;
  return { loom, pid, tid, thread: readThread(fields) };
}

/** Reads `metadata.json` of version 1 (trace specification version 1, "Process metadata"). */
export function readProcessMetadata(path: string, fault: Fault): ProcessMetadata | undefined {
  const fields = fieldsIn(path, 1, fault);
  if (fields === undefined) return undefined;
  fields.needs('app_id', 'an integer');
  return {
    appId: fields.integer('app_id', 1),
    rank: fields.integer('rank', 0),
    nranks: fields.integer('nranks', 1),
    cpus: fields.cpus('cpus'),
    json: fields.json,
  };
}

/**
 * Tracewright's own metadata of one thread of a version 1 process: `tracewright.threads.<tid>` in
 * `metadata.json`. It has the fields of version 3's `stream.json` that version 1 lacks. Readers of
 * version 1 ignore the key. Other libraries write metadata when the process ends, so a thread without
 * the key counts as finished.
 */
export function privateThreadMetadata(
  path: string,
  process: ProcessMetadata,
  tid: number,
  fault: Fault,
): ThreadMetadata {
  const { appId, rank, nranks, cpus } = process;
  const top = fieldsOf(path, process.json, fault);
  const own = top.object('tracewright');
  const threads = top.within('tracewright', own ?? {}).within('threads');
  const json = threads.object(String(tid));
  const thread = readThread(threads.within(String(tid), json ?? {}));
  return {
    ...thread,
    appId,
    rank,
    nranks,
    cpus,
    epoch: json && parseEpoch(own?.['epoch']),
    finished: json === undefined ? own === undefined : thread.finished,
  };
}
