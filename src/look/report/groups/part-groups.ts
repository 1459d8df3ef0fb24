import { entryOf } from '../../../core/map-entries.js';
import { KINDS } from '../../../spans/layout.js';
import { NO_TEXT } from '../../index/look-index.js';
import type { IndexPart, TextTable } from '../../index/look-index.js';
import type { GroupedValues } from '../names/recorded-attributes.js';

const NONE = -1;

/** Gives the rows of a part numbers by their name, which has a number for each system, their kind and route. */
export class PartGroups {
  /** By number: the name, the kind, the route and the time of its rows. */
  readonly names: number[] = [];
  readonly kinds: number[] = [];
  readonly routes: number[] = [];
  readonly totals: number[] = [];
  /** Of groups by attributes. */
  readonly values: GroupedValues[] = [];
  readonly #byValues = new Map<string, number>();
  readonly #names: TextTable;
  readonly #byName: Int32Array;
  /** A route has one name as a rule, and therefore one group: the last one. */
  readonly #byRoute: Int32Array;
  readonly #byBoth = new Map<number, number>();

  constructor({ names }: IndexPart) {
    this.#names = names;
    const { count } = names;
    this.#byName = new Int32Array(KINDS.length * count).fill(NONE);
    this.#byRoute = new Int32Array(count).fill(NONE);
  }

  numberOf(name: number, kind: number, route: number): number {
    const named = KINDS.length * name + kind;
    if (route === NO_TEXT) {
      const known = this.#byName[named]!;
      return known === NONE ? (this.#byName[named] = this.#add(name, kind, route)) : known;
    }
    const last = this.#byRoute[route]!;
    if (last !== NONE && this.names[last] === name && this.kinds[last] === kind) return last;
    const key = route * this.#byName.length + named;
    const number = entryOf(this.#byBoth, key, () => this.#add(name, kind, route));
    this.#byRoute[route] = number;
    return number;
  }

  numberOfValues(values: GroupedValues, name: number, kind: number): number {
    const system = this.#names.system(name);
    const key = `${kind}\n${system ?? ''}\n${values.label}`;
    let number = this.#byValues.get(key);
    if (number === undefined) {
      number = this.#add(name, kind, NO_TEXT);
      this.#byValues.set(key, number);
      this.values[number] = values;
    }
    return number;
  }

  #add(name: number, kind: number, route: number): number {
    this.names.push(name);
    this.kinds.push(kind);
    this.routes.push(route);
    return this.totals.push(0) - 1;
  }
}
