import { callSignatures } from './mpi-functions.js';
import { COUNT_BYTES, STATUS_RECORD_BYTES } from './layout.js';

/** The name of a call that has a record: `'MPI_Send'`. */
export type CallName = keyof typeof callSignatures;

/** How a value is laid out in a record; integers are big-endian. */
export type FieldEncoding = 'i8' | 'u8' | 'i16' | 'i32' | 'i64' | 'u64' | 'chars' | 'status';

/** Bytes of a value, or the least of them: of a text those that count it. */
export const ENCODED_BYTES: Readonly<Record<FieldEncoding, number>> = {
  i8: 1,
  u8: 1,
  i16: 2,
  i32: 4,
  i64: 8,
  u64: 8,
  chars: COUNT_BYTES,
  status: STATUS_RECORD_BYTES,
};

/**
 * Each type of the table with its width. What MPI calls a handle is a number: see constants.ts. A
 * string (`chars`) is an i32 length in bytes and the bytes, without a NUL. For `status` see layout.ts.
 */
export const fieldEncodings = {
  int: 'i32',
  int64: 'i64',
  address: 'u64',
  chars: 'chars',
  status: 'status',
  datatype: 'i16',
  comm: 'i16',
  group: 'i16',
  errhandler: 'i16',
  file: 'i16',
  info: 'i16',
  win: 'i16',
  keyval: 'i16',
  commKeyval: 'i16',
  typeKeyval: 'i16',
  winKeyval: 'i16',
  request: 'i32',
  ioRequest: 'i32',
  source: 'i32',
  dest: 'i32',
  tag: 'i32',
  errcode: 'i32',
  comparison: 'i8',
  ordering: 'i8',
  // One byte as well, but the format's own reader widens it without a sign.
  combiner: 'u8',
  distribution: 'u8',
  filemode: 'u8',
  locktype: 'u8',
  op: 'u8',
  threadlevel: 'u8',
  topology: 'u8',
  typeclass: 'u8',
  whence: 'u8',
  winAssert: 'u8',
} as const satisfies Record<string, FieldEncoding>;

/** A type of the table: `'int'`, `'datatype'`. */
export type FieldType = keyof typeof fieldEncodings;

/** MPI's status of a message that has arrived. */
export interface Status {
  /** Bytes that were received (MPI's own count is of elements). */
  bytes: number;
  source: number;
  tag: number;
  /** 1 when the operation was cancelled, otherwise 0. */
  cancelled: number;
  /** MPI's error code, cut to a byte: -128 to 127. */
  error: number;
}

/** Integers of an array argument. */
export type Integers = readonly number[] | Int8Array | Int16Array | Int32Array;

/** The value of one element that `log` accepts. */
type Given<T> = T extends 'int64' | 'address'
  ? number | bigint
  : T extends 'chars'
    ? string
    : number;

/** An array that `log` accepts; null is C's NULL and stored like an empty array. */
type GivenArray<T> = T extends 'status'
  ? readonly Status[] | null
  : T extends 'chars'
    ? readonly string[] | null
    : Integers | null;

/** An array of arrays that `log` accepts. */
type GivenRows<T> = T extends 'chars'
  ? readonly (readonly string[])[] | null
  : readonly Integers[] | null;

/** One value that `log` accepts; null says that a status was ignored. */
type GivenOne<T> = T extends 'status' ? Status | null : Given<T>;

/** The value of one element that readers return. */
type Read<T> = T extends 'int64' | 'address'
  ? bigint
  : T extends 'chars'
    ? string
    : T extends 'status'
      ? Status
      : number;

/** One value that readers return; a status that was ignored or not stored is null. */
type ReadOne<T> = T extends 'status' ? Status | null : Read<T>;

type Split<S extends string> = S extends ''
  ? never
  : S extends `${infer Field}, ${infer Rest}`
    ? Field | Split<Rest>
    : S;

/** The fields of a call as they stand in its signature. */
type FieldsOf<N extends CallName> = Split<(typeof callSignatures)[N]>;

/** The name of a field that every record of the call has; never for one of the root alone. */
type AlwaysName<F> = F extends `${string}?` ? never : NameOf<F>;
type RootName<F> = F extends `${infer Field}?` ? NameOf<Field> : never;
type NameOf<F> = F extends `${string} ${infer Rest}`
  ? Rest extends `${infer Name}[${string}` | `${infer Name}(${string}`
    ? Name
    : Rest
  : never;

type GivenFor<F> = F extends `${infer T} ${infer Rest}`
  ? Rest extends `${string}[${string}][${string}`
    ? GivenRows<T>
    : Rest extends `${string}[${string}`
      ? GivenArray<T>
      : GivenOne<T>
  : never;

type ReadFor<F> = F extends `${infer T} ${infer Rest}`
  ? Rest extends `${string}[${string}][${string}`
    ? Read<T>[][]
    : Rest extends `${string}[${string}`
      ? Read<T>[]
      : ReadOne<T>
  : never;

/** Makes an editor show the fields rather than how they were found. */
type Shown<T> = { [K in keyof T]: T[K] };

/**
 * Arguments of a call for `log`: `{ count: number; datatype: number; dest: number; … }`. Fields that
 * only the root's record has may be left out by the others.
 */
export type CallArguments<N extends CallName> = Shown<
  { [F in FieldsOf<N> as AlwaysName<F>]: GivenFor<F> } & {
    [F in FieldsOf<N> as RootName<F>]?: GivenFor<F>;
  }
>;

/** Arguments of a call from a reader. Fields that only the root's record has are absent elsewhere. */
export type CallFields<N extends CallName> = Shown<
  { [F in FieldsOf<N> as AlwaysName<F>]: ReadFor<F> } & {
    [F in FieldsOf<N> as RootName<F>]?: ReadFor<F>;
  }
>;

/** One field of a call's record. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly encoding: FieldEncoding;
  /** 0: one value, 1: an array, 2: an array of arrays. */
  readonly dimensions: 0 | 1 | 2;
  /** The field that says how many elements an array has, or the bytes of a string. */
  readonly count: string | undefined;
  /** How many elements each inner array has, where the call says so. */
  readonly inner: number | undefined;
  /** Whether only the record of the root has it. */
  readonly rootOnly: boolean;
}

/** A call with its record's fields in the order of their bytes. */
export interface Call {
  readonly label: number;
  readonly name: CallName;
  readonly fields: readonly Field[];
  /** The field that is compared with `root`, where the call has fields of the root alone. */
  readonly rankField: 'commrank' | 'oldcommrank' | undefined;
}

function parseField(text: string): Field {
  const match = /^(\w+) ([\w.]+)(?:\((\w+)\)|\[(\w*)\](?:\[(\d*)\])?)?(\?)?$/.exec(text);
  if (match === null) throw new Error(`no field: ${text}`);
  const [, type, name, length, count, inner, root] = match as unknown as [
    string,
    FieldType,
    string,
    ...(string | undefined)[],
  ];
  return {
    name,
    type,
    encoding: fieldEncodings[type],
    dimensions: inner !== undefined ? 2 : count !== undefined ? 1 : 0,
    count: (length ?? count) || undefined,
    inner: inner ? Number(inner) : undefined,
    rootOnly: root !== undefined,
  };
}

/** MPI_Pcontrol: the footer counts it, but no record. */
const PCONTROL_LABEL = 128;
/** The index of the total in the footer's counts. */
export const TOTAL_LABEL = 290;
/** Counts in a footer: one for each label up to the total. */
export const COUNTED_LABELS = 291;
/** Labels of a function's entry and exit; neither has a count. */
export const FUNCTION_ENTER_LABEL = 291;
export const FUNCTION_EXIT_LABEL = 292;
/** Lies where the next call's label would, and ends the body. */
export const END_OF_STREAM_LABEL = 293;

function parseCall([name, signature]: [string, string], index: number): Call {
  const fields = signature === '' ? [] : signature.split(', ').map(parseField);
  const names = fields.map((field) => field.name);
  const rootOnly = fields.some((field) => field.rootOnly);
  const rankField = names.includes('commrank') ? 'commrank' : 'oldcommrank';
  // MPI_Pcontrol and the total have labels but no lines.
  const label = index < PCONTROL_LABEL ? index : index + 1 < TOTAL_LABEL ? index + 1 : index + 2;
  return { label, name: name as CallName, fields, rankField: rootOnly ? rankField : undefined };
}

/** Every call, in the order of the labels. */
export const calls: readonly Call[] = Object.entries<string>(callSignatures).map(parseCall);

const byName: ReadonlyMap<string, Call> = new Map(calls.map((call) => [call.name, call]));
const byLabel: (Call | undefined)[] = [];
for (const call of calls) byLabel[call.label] = call;

/** The call of a name, or undefined when the format has no record for such a call. */
export function callNamed(name: string): Call | undefined {
  return byName.get(name);
}

/** The call of a label, or undefined when no record has that label. */
export function callLabelled(label: number): Call | undefined {
  return byLabel[label];
}

/**
 * The label of a call: 0 to 289 without 128, which is MPI_Pcontrol's; 291 and 292 for the entry and
 * the exit of a function.
 */
export function labelOf(name: CallName): number {
  return byName.get(name)!.label;
}

/** The name that a label has in the footer: that of its call, of MPI_Pcontrol or of the total. */
export function countName(label: number): string {
  if (label === PCONTROL_LABEL) return 'MPI_Pcontrol';
  return byLabel[label]?.name ?? 'MPI_ALL_FUNCTIONS';
}
