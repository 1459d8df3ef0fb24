import { readBoundedJson } from '../../core/files/bounded-json.js';
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

/** Metadata of one thread, of either version; undefined where the trace has none. */
export interface ThreadMetadata {
  readonly appId: number | undefined;
  readonly rank: number | undefined;
  readonly nranks: number | undefined;
  readonly cpus: readonly Cpu[] | undefined;
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
  /** The object that all of this was read from. */
  readonly json: JsonObject;
}

/** `stream.json` of version 3: whose stream it is, and the rest. */
interface StreamMetadata {
  readonly loom: string;
  readonly pid: number;
  readonly tid: number;
  readonly thread: ThreadMetadata;
}

/** `metadata.json` of version 1. */
export interface ProcessMetadata {
  readonly appId: number | undefined;
  readonly rank: number | undefined;
  readonly nranks: number | undefined;
  readonly cpus: readonly Cpu[] | undefined;
  readonly json: JsonObject;
}

const NO_MARKS: ReadonlyMap<number, MarkType> = new Map();

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

function readJson(path: string, fault: Fault): JsonObject | undefined {
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
  return value;
}

/** Reads fields of one JSON object, and reports each that has a wrong value. */
class Fields {
  readonly #json: JsonObject;
  readonly #path: string;
  readonly #prefix: string;
  readonly #fault: Fault;

  constructor(json: JsonObject, path: string, prefix: string, fault: Fault) {
    this.#json = json;
    this.#path = path;
    this.#prefix = prefix;
    this.#fault = fault;
  }

  wrong(key: string, expected: string): void {
    const shown = JSON.stringify(this.get(key)) as string | undefined;
    this.#fault(
      this.#path,
      `${this.#prefix}${key} must be ${expected}, got ${(shown ?? 'nothing').slice(0, 60)}`,
      this.#prefix + key,
    );
  }

  get(key: string): JsonValue | undefined {
    return Object.hasOwn(this.#json, key) ? this.#json[key] : undefined;
  }

  integer(key: string, least: number): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value < 2 ** 31) {
      return value;
    }
    this.wrong(key, `an integer from ${least} to 2147483647`);
    return undefined;
  }

  string(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === 'string') return value;
    this.wrong(key, 'a string');
    return undefined;
  }

  object(key: string): JsonObject | undefined {
    const value = this.get(key);
    if (value === undefined || isObject(value)) return value;
    this.wrong(key, 'an object');
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
      const prefix = `${this.#prefix}${key}[${at}].`;
      if (!isObject(item)) {
        this.#fault(
          this.#path,
          `${this.#prefix}${key}[${at}] must be an object`,
          this.#prefix + key,
        );
        continue;
      }
      const fields = new Fields(item, this.#path, prefix, this.#fault);
      const index = fields.integer('index', 0);
      const phyid = fields.integer('phyid', 0);
      if (index !== undefined && phyid !== undefined) cpus.push({ index, phyid });
      else if (fields.get('index') === undefined) fields.wrong('index', 'an integer');
      else if (fields.get('phyid') === undefined) fields.wrong('phyid', 'an integer');
    }
    return cpus;
  }
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

function readMarks(
  json: JsonObject,
  path: string,
  prefix: string,
  fault: Fault,
): Map<number, MarkType> {
  const marks = new Map<number, MarkType>();
  for (const [key, value] of Object.entries(json)) {
    const type = /^[0-9]{1,2}$/.test(key) ? Number(key) : undefined;
    if (type === undefined || !isObject(value)) {
      fault(
        path,
        `${prefix}.${key} must be a mark type from 0 to 99 with an object`,
        `${prefix}.${key}`,
      );
      continue;
    }
    const fields = new Fields(value, path, `${prefix}.${key}.`, fault);
    const title = fields.string('title');
    const channel = fields.string('chan_type');
    const labelsJson = fields.object('labels');
    if (fields.get('title') === undefined) fields.wrong('title', 'a string');
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
        fault(
          path,
          `${prefix}.${key}.labels.${valueKey} must be an i64 with a string`,
          `${prefix}.${key}.labels`,
        );
        continue;
      }
      labels.set(number, label);
    }
    marks.set(type, { title, channel, labels });
  }
  return marks;
}

function readThread(json: JsonObject, path: string, prefix: string, fault: Fault): ThreadMetadata {
  const top = new Fields(json, path, prefix, fault);
  const ovniJson = top.object('ovni') ?? {};
  const ovni = new Fields(ovniJson, path, `${prefix}ovni.`, fault);
  const lib = new Fields(ovni.object('lib') ?? {}, path, `${prefix}ovni.lib.`, fault);
  const requireJson = ovni.object('require');
  const markJson = ovni.object('mark');
  let require: Map<string, string> | undefined;
  if (requireJson !== undefined) {
    require = new Map();
    for (const [model, version] of Object.entries(requireJson)) {
      // The emulator ignores a version that is no string, and unknown models.
      if (typeof version === 'string') require.set(model, version);
    }
  }
  return {
    appId: ovni.integer('app_id', 1),
    rank: ovni.integer('rank', 0),
    nranks: ovni.integer('nranks', 1),
    cpus: ovni.cpus('loom_cpus'),
    libraryVersion: lib.string('version'),
    libraryCommit: lib.string('commit'),
    epoch: parseEpoch(lib.get('epoch')),
    require,
    marks:
      markJson === undefined ? NO_MARKS : readMarks(markJson, path, `${prefix}ovni.mark`, fault),
    finished: ovni.get('finished') === 1,
    attributes: Object.fromEntries(
      Object.entries(json).filter(([key]) => key !== 'ovni' && key !== 'version'),
    ),
    json,
  };
}

/**
 * Reads `stream.json` of version 3. Undefined if it does not identify the stream's thread.
 */
export function readStreamMetadata(path: string, fault: Fault): StreamMetadata | undefined {
  const json = readJson(path, fault);
  if (json === undefined) return undefined;
  if (json['version'] !== 3) {
    new Fields(json, path, '', fault).wrong('version', '3');
    return undefined;
  }
  const ovniJson = new Fields(json, path, '', fault).object('ovni') ?? {};
  const ovni = new Fields(ovniJson, path, 'ovni.', fault);
  const part = ovni.string('part');
  if (part !== 'thread') {
    ovni.wrong('part', '"thread"');
    return undefined;
  }
  const tid = ovni.integer('tid', 1);
  const pid = ovni.integer('pid', 1);
  const loom = ovni.string('loom');
  for (const key of ['tid', 'pid', 'loom']) {
    if (ovni.get(key) === undefined) ovni.wrong(key, key === 'loom' ? 'a string' : 'an integer');
  }
  if (tid === undefined || pid === undefined || loom === undefined) return undefined;
  return { loom, pid, tid, thread: readThread(json, path, '', fault) };
}

/** Reads `metadata.json` of version 1 (trace specification version 1, "Process metadata"). */
export function readProcessMetadata(path: string, fault: Fault): ProcessMetadata | undefined {
  const json = readJson(path, fault);
  if (json === undefined) return undefined;
  const fields = new Fields(json, path, '', fault);
  if (json['version'] !== 1) {
    fields.wrong('version', '1');
    return undefined;
  }
  if (json['app_id'] === undefined) fields.wrong('app_id', 'an integer');
  return {
    appId: fields.integer('app_id', 1),
    rank: fields.integer('rank', 0),
    nranks: fields.integer('nranks', 1),
    cpus: fields.cpus('cpus'),
    json,
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
  const own = new Fields(process.json, path, '', fault).object('tracewright');
  const threads = own && new Fields(own, path, 'tracewright.', fault).object('threads');
  const json =
    threads && new Fields(threads, path, 'tracewright.threads.', fault).object(String(tid));
  const ofProcess = {
    appId: process.appId,
    rank: process.rank,
    nranks: process.nranks,
    cpus: process.cpus,
  };
  if (json === undefined) {
    return {
      ...ofProcess,
      libraryVersion: undefined,
      libraryCommit: undefined,
      epoch: undefined,
      require: undefined,
      marks: NO_MARKS,
      finished: own === undefined,
      attributes: {},
      json: {},
    };
  }
  return {
    ...readThread(json, path, `tracewright.threads.${tid}.`, fault),
    ...ofProcess,
    epoch: parseEpoch(own?.['epoch']),
  };
}
