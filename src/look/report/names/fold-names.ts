import type { SpanKind } from '../../../spans/layout.js';
import { METHODS, OTHER_METHOD, OTHER_METHOD_NAME } from '../../../spans/conventions.js';
import { LongestRows } from '../measures/longest-rows.js';

/** With fewer names than this nothing is folded. */
export const FEW_NAMES = 40;
/** Paths of one method and service that have a row of their own: those that took the most time. */
const MAX_PATHS = 40;
/** The same of all other names of a service. */
const MAX_NAMES = 1000;
/** Different names without a row that are counted; beyond it the report says `more than`. */
const MAX_COUNTED = 10_000;
/** Of each piece so many times the names that get a row are looked at: the sum over all pieces decides. */
const SPARE = 4;

/** A request that no router has matched, and a call to a URL: any client can make new names of this kind. */
const PATH = new RegExp(
  `^(${[...METHODS, OTHER_METHOD_NAME, OTHER_METHOD].join('|')}) (?:/|\\*$|https?:)`,
);

/** Spans of one kind, system and name of a service. */
export interface NamedGroup {
  service: string | undefined;
  kind: SpanKind | null;
  system: string | null;
  name: string;
}

/** A name with the time that its spans took in a piece of the recording. */
export interface TimedName extends NamedGroup {
  total: number;
}

/** The method and the limit that names of one kind share. */
interface NameKind {
  /** Of paths, the method. */
  method: string | undefined;
  most: number;
}

const OTHER_NAMES: NameKind = { method: undefined, most: MAX_NAMES };

function kindOf(name: string): NameKind {
  const method = PATH.exec(name)?.[1];
  return method === undefined ? OTHER_NAMES : { method, most: MAX_PATHS };
}

/** The same for all spans that share a row unless there are too many names. */
export function nameKey({ service, kind, system, name }: NamedGroup): string {
  return `${service ?? ''}\n${kind ?? ''}\n${system ?? ''}\n${name}`;
}

/**
 * Decides which names get a row of their own, and which share one: a million paths that a scanner asks for
 * are one row.
 */
export class FoldedNames {
  /** Keys of the names with a row, by kind and service, with their time. */
  readonly #times = new Map<string, { most: number; totals: Map<string, number> }>();
  #kept: Set<string> | undefined;

  /** Takes the names of a piece, each once. */
  add(names: Iterable<TimedName>): void {
    const longest = new Map<string, LongestRows<string>>();
    for (const named of names) {
      const { total } = named;
      const { method, most } = kindOf(named.name);
      const kind = nameKey({ ...named, name: method ?? '' });
      let rows = longest.get(kind);
      if (rows === undefined) {
        longest.set(kind, (rows = new LongestRows(SPARE * most)));
        if (!this.#times.has(kind)) this.#times.set(kind, { most, totals: new Map() });
      }
      if (rows.admits(total)) rows.add(total, nameKey(named));
    }
    for (const [kind, rows] of longest) {
      const { totals } = this.#times.get(kind)!;
      for (const { length, value } of rows.sorted) {
        totals.set(value, (totals.get(value) ?? 0) + length);
      }
    }
  }

  /** Whether a name has a row of its own. After all were added. */
  keeps(named: NamedGroup): boolean {
    return (this.#kept ??= this.#chosen()).has(nameKey(named));
  }

  #chosen(): Set<string> {
    const kept = new Set<string>();
    for (const { most, totals } of this.#times.values()) {
      const sorted = [...totals].sort((a, b) => b[1] - a[1]);
      // A row for a single other name would save none.
      const rows = sorted.length === most + 1 ? sorted.length : most;
      for (const [key] of sorted.slice(0, rows)) kept.add(key);
    }
    return kept;
  }
}

/** The names that share a row. */
export class OtherNames {
  readonly #kind: NameKind;
  readonly #known = new Set<string>();
  #areMore = false;

  /** @param name one of them. */
  constructor(name: string) {
    this.#kind = kindOf(name);
  }

  /** The same for all names that share a row in a service. */
  static key(named: NamedGroup): string {
    return nameKey({ ...named, name: `(${kindOf(named.name).method ?? ''})` });
  }

  add(name: string): void {
    if (this.#known.size < MAX_COUNTED || this.#known.has(name)) this.#known.add(name);
    else this.#areMore = true;
  }

  get count(): number {
    return this.#known.size;
  }

  /** `GET (412 other paths)`. */
  get text(): string {
    const { method } = this.#kind;
    const count = this.count.toLocaleString('en-US');
    const many = this.#areMore ? `more than ${count}` : count;
    const what = method === undefined ? 'name' : 'path';
    const text = `(${many} other ${what}${this.count === 1 ? '' : 's'})`;
    return method === undefined ? text : `${method} ${text}`;
  }
}
