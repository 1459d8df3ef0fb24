import { TracewrightError } from '../core/errors.js';
import { ofType } from '../core/options/argument.js';
import { declarationOf, events, modelOf } from './catalog.js';
import type { Events, Models } from './catalog.js';
import { MAX_PAYLOAD_BYTES, MIN_PAYLOAD_BYTES } from './layout.js';

/** The argument types of ovni's event notation, with what a caller passes for each. */
export interface ArgumentTypes {
  u8: number;
  i8: number;
  u16: number;
  i16: number;
  u32: number;
  i32: number;
  u64: number | bigint;
  i64: number | bigint;
  str: string;
}

export type ArgumentType = keyof ArgumentTypes;

/** Bytes that an argument takes in the payload; a `str` takes its UTF-8 bytes and a NUL. */
export const argumentBytes: Readonly<Record<Exclude<ArgumentType, 'str'>, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  u64: 8,
  i64: 8,
};

/** One argument of an event. */
export interface Argument {
  readonly type: ArgumentType;
  readonly name: string;
  /** Bytes from the start of the payload; of a jumbo event, from the start of its data. */
  readonly offset: number;
}

/** An event's shape, as {@link parseSignature} reads it from the notation. */
export interface Signature {
  /** Model, category and value: three printable ASCII characters. */
  readonly mcv: string;
  /** Whether the arguments are jumbo data rather than a normal payload. */
  readonly jumbo: boolean;
  readonly args: readonly Argument[];
  /**
   * Bytes of the arguments. Of a normal event this is the payload (0, or 2 to 16). Of a jumbo event it
   * is the part of its data before the `str`, if any.
   */
  readonly payloadBytes: number;
}

/** The most arguments that the emulator reads from one signature. */
const MAX_ARGUMENTS = 16;

function fault(text: string, at: number, what: string, limit: string): TracewrightError {
  return new TracewrightError(
    'ERR_ARGUMENT_RANGE',
    `signature ${JSON.stringify(text)}, character ${at + 1}: ${what}; expected ${limit}`,
    { field: 'signature', value: text, limit },
  );
}

function isArgumentType(type: string): type is ArgumentType {
  return type === 'str' || Object.hasOwn(argumentBytes, type);
}

/**
 * Reads ovni's event notation: the three characters of the MCV, `+` for a jumbo event, and the
 * arguments in parentheses, each a type and a name: `OB.`, `OHx(i32 cpu, i32 tid, u64 tag)`,
 * `VYc+(u32 typeid, str label)`. Arguments follow one another without padding. A `str` comes last
 * and only in a jumbo event, because a normal payload has a fixed size.
 *
 * @throws TracewrightError `ERR_ARGUMENT_TYPE` if `text` is no string, `ERR_ARGUMENT_RANGE` if it is not
 *   a signature; the message names the first wrong character.
 */
export function parseSignature(text: string): Signature {
  ofType('signature', text, 'string');
  const mcv = text.slice(0, 3);
  const wrong = /[^\x21-\x7e]/.exec(mcv);
  if (wrong !== null) {
    throw fault(text, wrong.index, 'this cannot be part of an MCV', 'a printable ASCII character');
  }
  if (mcv.length < 3) {
    throw fault(text, mcv.length, 'the MCV ends too soon', 'three characters');
  }
  const jumbo = text[3] === '+';
  const open = jumbo ? 4 : 3;
  if (open === text.length && !jumbo) return { mcv, jumbo, args: [], payloadBytes: 0 };
  if (text[open] !== '(') {
    throw fault(
      text,
      open,
      'the arguments do not begin here',
      jumbo ? "'('" : "'+', '(' or the end",
    );
  }
  if (!text.endsWith(')')) {
    throw fault(text, text.length, 'the arguments do not end', "')' as the last character");
  }

  const args: Argument[] = [];
  let offset = 0;
  let at = open + 1;
  for (const part of text.slice(open + 1, -1).split(',')) {
    const start = at + (part.length - part.trimStart().length);
    const match = /^ *(\S+) +(\S+) *$/.exec(part);
    if (match === null) {
      throw fault(text, start, 'this is not an argument', 'a type, a space and a name');
    }
    const [, type, name] = match as unknown as [string, string, string];
    if (!isArgumentType(type)) {
      throw fault(
        text,
        start,
        `unknown argument type ${JSON.stringify(type)}`,
        'u8, i8, u16, i16, u32, i32, u64, i64 or str',
      );
    }
    const nameAt = at + part.lastIndexOf(name);
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name) || name === '__proto__') {
      throw fault(
        text,
        nameAt,
        `${JSON.stringify(name)} cannot name an argument`,
        'up to 63 letters, digits and underscores, not beginning with a digit',
      );
    }
    if (args.some((other) => other.name === name)) {
      throw fault(text, nameAt, `a second argument named ${JSON.stringify(name)}`, 'another name');
    }
    if (args.at(-1)?.type === 'str') {
      throw fault(text, start, 'an argument after a str', 'the str to come last');
    }
    if (type === 'str' && !jumbo) {
      throw fault(text, start, 'a str in a normal event', 'a jumbo event, marked with +');
    }
    if (args.length === MAX_ARGUMENTS) {
      throw fault(text, start, 'one argument too many', `at most ${MAX_ARGUMENTS} arguments`);
    }
    args.push({ type, name, offset });
    if (type !== 'str') offset += argumentBytes[type];
    at += part.length + 1;
  }
  if (!jumbo && (offset < MIN_PAYLOAD_BYTES || offset > MAX_PAYLOAD_BYTES)) {
    throw fault(
      text,
      open,
      `the arguments take ${offset} bytes`,
      `${MIN_PAYLOAD_BYTES} to ${MAX_PAYLOAD_BYTES} bytes in a normal event`,
    );
  }
  return { mcv, jumbo, args, payloadBytes: offset };
}

/** Bytes and kind of a signature's arguments; of a `str` its NUL. */
export function shapeOf({ jumbo, args, payloadBytes }: Signature): Shape {
  return { jumbo, bytes: payloadBytes + (args.at(-1)?.type === 'str' ? 1 : 0) };
}

/** The declared events of a model that are nearest to an MCV: the same letters, else the category. */
function nearestTo(mcv: string): string[] {
  const all = Object.keys(events);
  const same = (other: string): boolean => other.toLowerCase() === mcv.toLowerCase();
  for (const near of [same, (other: string) => other.startsWith(mcv.slice(0, 2))]) {
    const found = all.filter((other) => near(other) && other[0] === mcv[0]);
    if (found.length > 0) return found;
  }
  return [];
}

/** Throws for an event that its model does not declare, or declares with other arguments. */
function checkDeclared(text: string, signature: Signature): void {
  const { mcv } = signature;
  const model = modelOf(mcv);
  if (model === undefined) return;
  const declaration = declarationOf(mcv);
  if (declaration === undefined) {
    const near = nearestTo(mcv);
    throw fault(
      text,
      0,
      `the emulator's model ${model} declares no event ${mcv}`,
      near.length > 0
        ? `one that it declares, such as ${near.slice(0, 8).join(' ')}`
        : "one of the catalog's, or the letter of a model of your own",
    );
  }
  const declared = parseSignature(declaration.signature);
  if (judgePayload(mcv, shapeOf(declared), shapeOf(signature), 3) === 'refused') {
    throw fault(
      text,
      3,
      'the emulator refuses the event with these arguments',
      declaration.signature,
    );
  }
}

/**
 * As {@link parseSignature}, but the MCV of a declared event means its whole signature: `OHx` means
 * `OHx(i32 cpu, i32 tid, u64 tag)`. An MCV of a model that the emulator does not have is an event
 * without arguments.
 *
 * @throws TracewrightError `ERR_ARGUMENT_RANGE` also for an event that a model of the emulator does not
 *   declare, or declares with arguments that it could not read from this one.
 */
export function resolveSignature(text: string): Signature {
  const declared = typeof (text as unknown) === 'string' ? declarationOf(text) : undefined;
  if (declared !== undefined) return parseSignature(declared.signature);
  const signature = parseSignature(text);
  checkDeclared(text, signature);
  return signature;
}

/** The type of an argument that cannot be parsed: no value has it. */
export interface NotAnArgument<Text extends string> {
  readonly 'not an argument of an ovni event': Text;
}

type Trim<Text extends string> = Text extends ` ${infer Rest}`
  ? Trim<Rest>
  : Text extends `${infer Rest} `
    ? Trim<Rest>
    : Text;

type ArgumentOf<Text extends string> = Text extends `${infer Type} ${string}`
  ? Type extends ArgumentType
    ? ArgumentTypes[Type]
    : NotAnArgument<Text>
  : NotAnArgument<Text>;

type ArgumentList<Text extends string> = Text extends `${infer Head},${infer Tail}`
  ? [ArgumentOf<Trim<Head>>, ...ArgumentList<Tail>]
  : [ArgumentOf<Trim<Text>>];

type WithoutFirst<Text extends string> = Text extends `${string}${infer Rest}` ? Rest : never;

type AfterMcv<Text extends string> = WithoutFirst<WithoutFirst<WithoutFirst<Text>>>;

type ArgumentsAfterMcv<Rest extends string> = Rest extends ''
  ? []
  : Rest extends `(${infer List})` | `+(${infer List})`
    ? ArgumentList<List>
    : [NotAnArgument<Rest>];

/** The type of an argument of an event that its model does not declare: no value has it. */
export interface NotDeclared<Mcv extends string> {
  readonly 'an event that its model does not declare': Mcv;
}

type FirstThree<Text extends string> = Text extends `${infer M}${infer C}${infer V}${string}`
  ? `${M}${C}${V}`
  : Text;

/** Whether the emulator accepts the event: it is declared, or of a model that the emulator lacks. */
type IsTaken<Text extends string> = Text extends `${Models[keyof Models]['id']}${string}`
  ? FirstThree<Text> extends keyof Events
    ? true
    : false
  : true;

/**
 * The parameters of the function that emits an event, inferred from its signature:
 * `Arguments<'OHx(i32 cpu, i32 tid, u64 tag)'>` is `[number, number, number | bigint]`, and so is
 * `Arguments<'OHx'>`, from the catalog. For a string that is not known at compile time, they are any
 * number of numbers, bigints and strings.
 */
export type Arguments<S extends string> = string extends S
  ? (number | bigint | string)[]
  : S extends keyof Events
    ? ArgumentsAfterMcv<AfterMcv<Events[S]['signature']>>
    : IsTaken<S> extends true
      ? ArgumentsAfterMcv<AfterMcv<S>>
      : [NotDeclared<FirstThree<S>>];

// How the emulator treats an event whose payload does not have the declared size: it refuses some events, and of others
// reads the bytes that it needs.

/** Events whose payload must have exactly the declared size. */
const EXACT = new Set(['OAs', 'OAr', 'OM[', 'OM]', 'OM=', '6Tc', 'PPc']);
/** Declared arguments that the emulator does not read. */
const UNREAD = new Set(['OHC', 'OCn']);

/** The arguments of an event, as declared or as in a stream. */
export interface Shape {
  readonly jumbo: boolean;
  /** Bytes of all arguments; of a declared `str` its NUL only. */
  readonly bytes: number;
}

/** `extra`: read as if it were as declared. */
type PayloadVerdict = 'declared' | 'extra' | 'refused';

/**
 * Judges the payload of a declared event.
 *
 * @param version of the trace. The emulator of version 1 reads what it needs and does not know marks.
 */
export function judgePayload(
  mcv: string,
  declared: Shape,
  found: Shape,
  version: 1 | 3,
): PayloadVerdict {
  if (declared.bytes === 0) {
    return (found.bytes === 0 && !found.jumbo) || mcv.startsWith('OB') ? 'declared' : 'extra';
  }
  if (declared.jumbo === found.jumbo) {
    if (found.bytes === declared.bytes) return 'declared';
    if (found.jumbo && found.bytes > declared.bytes) return 'declared';
  }
  if (UNREAD.has(mcv)) return 'extra';
  if (declared.jumbo !== found.jumbo) return 'refused';
  // Of OHx only the CPU is read.
  const least = mcv === 'OHx' ? 4 : declared.bytes;
  if (found.bytes >= least && (version === 1 || !EXACT.has(mcv))) return 'extra';
  return version === 1 && mcv.startsWith('OM') ? 'extra' : 'refused';
}
