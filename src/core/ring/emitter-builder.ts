import { compile, mayCompile } from './compile.js';
import type { Ring } from './ring.js';

/**
 * The usual case of an emitter, as source text. The texts can name the parameters, the entries of
 * `scope` and:
 *
 * - `ring`, and of it `view`, `bytes`, `pending`, `stamp` and `commit`;
 * - `start`: where the record begins, in bytes from the start of `view`; from `write` on;
 * - `size`: bytes of the record; in `published`, if the case has a `size`;
 * - `unusual`: a function that passes the arguments to `plain`.
 *
 * They are built from numbers and checked names only, never from text that a caller of the library
 * chose.
 */
export interface UsualCase {
  /** Shown in stack traces and profiles. */
  readonly name: string;
  /** Names of the parameters. */
  readonly parameters: readonly string[];
  /** Further values that the texts name; a function of the ring for those that belong to it. */
  readonly scope?: Readonly<Record<string, unknown>> | ((ring: Ring) => Record<string, unknown>);
  /** Functions that the other texts call. They are made once for each ring. */
  readonly functions?: string;
  /** Statements that come first. They may declare variables, and return if nothing is to record. */
  readonly prepare?: string;
  /** Expression: whether the arguments are a usual case. */
  readonly test: string;
  /** Free bytes that the record needs: a number, or an expression if `size` is one. */
  readonly bytes: number | string;
  /** Statements that write the record at `start`. */
  readonly write: string;
  /** Expression: bytes of the record after `write`. Default: `bytes`, which is a number then. */
  readonly size?: string | undefined;
  /** Statements that follow the commit. */
  readonly published?: string;
  /**
   * A function in front of the emitter, small enough that V8 inlines it where it is called: for what
   * decides that there is nothing to record, or for a double that an argument would box.
   */
  readonly entry?: {
    /** Names of its parameters, which the caller and `plain` see. */
    readonly parameters: readonly string[];
    /** Statements that come before the emitter. They may return. */
    readonly prepare: string;
    /** Expressions inside the emitter: what `plain` gets for the parameters. */
    readonly plainArguments: readonly string[];
  };
}

/** Records to a ring, and to another one after the first was closed. */
export interface RingOwner {
  readonly ring: Ring;
}

/**
 * Builds a function that records one kind of record. The usual case is compiled without a call,
 * because V8 inlines no function of more than 460 bytes of bytecode, nor more than 920 into one function.
 * Everything else goes to `plain`: other arguments, every error, a ring without room or closed.
 *
 * The usual case is compiled for one ring. Everything of the ring that does not change while it is
 * open is a constant of the function, which saves a fifth of the cost of a record of 28 bytes. A
 * closed ring has no free byte, so the function never writes to it. The first record after the owner
 * got another ring goes to `plain`, and the usual case is compiled again.
 *
 *     buildEmitter(owner, {
 *       name: 'pair',
 *       parameters: ['a', 'b'],
 *       test: `typeof a === 'number' && (a | 0) === a && typeof b === 'number' && (b | 0) === b`,
 *       bytes: 8,
 *       write: `view.setInt32(start, a); view.setInt32(start + 4, b);`,
 *     }, (a, b) => { checkPair(a, b); if (ring.free < 8 && !ring.makeRoom(8)) return; ... });
 *
 * A record of variable size moves a variable of its own and gives `size`:
 *
 *     prepare: `const quick = typeof text === 'string';`,
 *     test: 'quick',
 *     bytes: '2 + 3 * text.length',
 *     write: 'let at = writeText(view, bytes, start, text);',
 *     size: 'at - start',
 *
 * @param plain takes any arguments, checks them and records them; the emitter itself if the process
 *   may not compile functions from text (`--disallow-code-generation-from-strings`).
 */
export function buildEmitter<Values extends unknown[]>(
  owner: RingOwner,
  usual: UsualCase,
  plain: (...values: Values) => void,
): (...values: Values) => void {
  if (!mayCompile()) return plain;
  const { name, entry } = usual;
  const inner = usual.parameters.join(', ');
  const outer = entry?.parameters.join(', ') ?? inner;
  const bind = (unusual: unknown): unknown => bindUsualCase(owner.ring, usual, unusual);
  return compile(
    name,
    { ...fixedScope(usual), owner, plain, bind },
    `let boundRing = owner.ring;
let record = bind(unusual);
function unusual(${inner}) {
  if (boundRing !== owner.ring) {
    boundRing = owner.ring;
    record = bind(unusual);
  }
  plain(${entry?.plainArguments.join(', ') ?? inner});
}
return function emit(${outer}) {
  ${entry?.prepare ?? ''}
  record(${inner});
};`,
  ) as (...values: Values) => void;
}

/** Entries of `scope` that outlive the ring; `entry` can name no others. */
function fixedScope({ scope }: UsualCase): Readonly<Record<string, unknown>> {
  return typeof scope === 'function' ? {} : (scope ?? {});
}

function bindUsualCase(ring: Ring, usual: UsualCase, unusual: unknown): unknown {
  const { name, parameters, functions = '', prepare = '', test, bytes, write } = usual;
  const scope = typeof usual.scope === 'function' ? usual.scope(ring) : usual.scope;
  const { size, published = '' } = usual;
  const list = parameters.join(', ');
  return compile(
    name,
    { ...ringScope(ring), unusual, ...scope },
    `${functions}
return function record(${list}) {
  ${prepare}
  if (!(${test}) || ring.free < ${typeof bytes === 'number' ? bytes : `(${bytes})`}) return unusual(${list});
  const start = ring.position & ${ring.capacity - 1};
  ${write}
  ${size === undefined ? '' : `const size = ${size};`}
  ${commitText(ring, 'start', size === undefined ? bytes : 'size')}
  ${published}
};`,
  );
}

/**
 * The parts of a ring that do not change while it is open, as constants of a compiled function. V8 reads addresses and
 * lengths at compile time, which saves a fifth of what an event of 28 bytes costs: `ring`, `view`, `bytes`, `pending`,
 * `stamp` and `commit`. A ring that has been closed never has room again, so a function that asks for `ring.free` first
 * uses no stale one.
 */
function ringScope(ring: Ring): Record<string, unknown> {
  const { view, bytes, pending, stamp, commit } = ring;
  return { ring, view, bytes, pending, stamp, commit };
}

/** Source that publishes the record of `bytes` bytes (a number or an expression) at `at`. */
function commitText(ring: Ring, at: string, bytes: number | string): string {
  return `ring.free -= ${bytes};
  ring.position = (${at} + ${bytes}) & ${ring.capacity - 1};
  pending[0] = ${bytes};
  commit();`;
}
