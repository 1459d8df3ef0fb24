import { KIND_MASK, NO_TEXT, STATUS_MASK, STATUS_SHIFT } from '../index/look-index.js';
import type { IndexPart } from '../index/look-index.js';
import { KINDS, STATUSES } from '../../spans/layout.js';
import type { SpanKind } from '../../spans/layout.js';
import { Distribution } from './distribution.js';
import { FoldedNames, OtherNames, nameKey } from './fold-names.js';
import type { NamedGroup, TimedName } from './fold-names.js';
import type { Group, GroupBy, GroupWaits } from './report-shape.js';
import { SPAN } from './selection.js';
import type { RowSelection } from './selection.js';
import { nextTurn } from '../index/turns.js';

const SERVER = KINDS.indexOf('server');
const CONSUMER = KINDS.indexOf('consumer');
const ERROR = STATUSES.indexOf('error');

/** Whether a span is a request: what a service was asked to do. */
export function isRequest(flags: number): boolean {
  const kind = flags & KIND_MASK;
  return kind === SERVER || kind === CONSUMER;
}

export function isError(flags: number): boolean {
  return ((flags >> STATUS_SHIFT) & STATUS_MASK) === ERROR;
}

/** What the spans of a group are: of a service, of several kinds. */
export interface GroupKind {
  kind: SpanKind | null;
  /** `http`, `redis`; null: they name none. */
  system: string | null;
}

/** A group while its spans are counted. */
export interface GroupTally extends GroupKind {
  readonly name: string;
  service: string | null;
  errors: number;
  durations: Distribution;
  /** The names that share the group; undefined: it has one. */
  others: OtherNames | undefined;
  /** Values of `--where` that select its spans; null: they have several names. */
  where: string[] | null;
}

/** The rows of a part that are in a group, ascending, and the numbers of their groups. */
export interface GroupedRows {
  rows: Int32Array;
  groups: Int32Array;
}

/** Waits until the columns of a part have been read. */
export type PartsReady = (part: IndexPart) => Promise<void> | undefined;

const NONE = -1;
/** With fewer names than this nothing is folded, so that nobody need look at them. */
const FEW_NAMES = 40;

/** What a request is called: OpenTelemetry's instrumentations name some by the method alone. */
function routeName(name: string, route: string): string {
  return name.includes(route) ? name : `${name} ${route}`;
}

/** Gives the rows of a part numbers by their name, which has a number for each system, their kind and route. */
class PartGroups {
  /** By number: the name, the kind, the route and the time of its rows. */
  readonly names: number[] = [];
  readonly kinds: number[] = [];
  readonly routes: number[] = [];
  readonly totals: number[] = [];
  readonly #byName: Int32Array;
  /** A route has one name as a rule, and therefore one group: the last one. */
  readonly #byRoute: Int32Array;
  readonly #byBoth = new Map<number, number>();

  constructor({ names: { count } }: IndexPart) {
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
    let number = this.#byBoth.get(key);
    if (number === undefined) this.#byBoth.set(key, (number = this.#add(name, kind, route)));
    this.#byRoute[route] = number;
    return number;
  }

  #add(name: number, kind: number, route: number): number {
    this.names.push(name);
    this.kinds.push(kind);
    this.routes.push(route);
    return this.totals.push(0) - 1;
  }
}

/** Puts the spans of a selection into groups. */
export class Grouping {
  readonly by: GroupBy;
  readonly #selection: RowSelection;
  readonly #exact: boolean;
  readonly #requestsOnly: boolean;
  readonly #tallies: GroupTally[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #ofParts = new Map<IndexPart, GroupedRows>();
  #room: GroupedRows = { rows: new Int32Array(0), groups: new Int32Array(0) };

  /** @param requests whether the selection has requests; then groups by route or service are of them. */
  constructor(selection: RowSelection, by: GroupBy, requests: boolean, exact: boolean) {
    this.#selection = selection;
    this.by = by;
    this.#exact = exact;
    this.#requestsOnly = requests && by !== 'name';
  }

  /** The rows of a part that are in a group, once `count` has counted them. */
  rowsOf(part: IndexPart): GroupedRows {
    return this.#ofParts.get(part)!;
  }

  tally(number: number): GroupTally {
    return this.#tallies[number]!;
  }

  /** Counts the spans of all parts. */
  async count(ready: PartsReady): Promise<void> {
    const numbered = new Map<IndexPart, PartGroups>();
    for (const part of this.#selection.index.parts) {
      if (!this.#selection.mayHave(part)) {
        this.#ofParts.set(part, { rows: new Int32Array(0), groups: new Int32Array(0) });
        continue;
      }
      await ready(part);
      await nextTurn();
      numbered.set(part, this.#number(part));
    }
    const folded = this.#folded(numbered);
    for (const [part, groups] of numbered) {
      await nextTurn();
      this.#count(part, groups, folded);
    }
  }

  /** Gives the rows of a part the numbers that its groups have within the part. */
  #number(part: IndexPart): PartGroups {
    const marks = this.#selection.marksOf(part);
    const { flags, name, route, duration } = part;
    const { rows, groups } = this.#roomFor(marks.length);
    const numbered = new PartGroups(part);
    const { totals } = numbered;
    const [byService, byRoute] = [this.by === 'service', this.by === 'route'];
    const requestsOnly = this.#requestsOnly;
    let count = 0;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) === 0 || (requestsOnly && !isRequest(flags[at]!))) continue;
      const number = byService
        ? numbered.numberOf(0, 0, NO_TEXT)
        : numbered.numberOf(
            name[at]!,
            Math.min(flags[at]! & KIND_MASK, KINDS.length - 1),
            byRoute ? route[at]! : NO_TEXT,
          );
      totals[number]! += duration[at]!;
      rows[count] = at;
      groups[count++] = number;
    }
    this.#ofParts.set(part, { rows: rows.slice(0, count), groups: groups.slice(0, count) });
    return numbered;
  }

  /** Memory that each part uses again: most rows may be in no group. */
  #roomFor(length: number): GroupedRows {
    if (this.#room.rows.length < length) {
      this.#room = { rows: new Int32Array(length), groups: new Int32Array(length) };
    }
    return this.#room;
  }

  /** Which names have a group of their own; undefined: all. */
  #folded(numbered: ReadonlyMap<IndexPart, PartGroups>): FoldedNames | undefined {
    let count = 0;
    for (const { names } of numbered.values()) count += names.length;
    if (count <= FEW_NAMES || this.by === 'service') return undefined;
    const folded = new FoldedNames();
    for (const [part, groups] of numbered) folded.add(timedNames(part, groups));
    return folded;
  }

  #count(part: IndexPart, numbered: PartGroups, folded: FoldedNames | undefined): void {
    const { rows, groups } = this.rowsOf(part);
    const { flags, duration } = part;
    const numbers = Int32Array.from(numbered.names, (_, number) =>
      this.#find(this.#keyOf(part, numbered, number), folded),
    );
    for (let i = 0; i < rows.length; i++) {
      const at = rows[i]!;
      const number = numbers[groups[i]!]!;
      groups[i] = number;
      const group = this.#tallies[number]!;
      if (isError(flags[at]!)) group.errors++;
      group.durations.add(duration[at]!);
    }
  }

  #keyOf(part: IndexPart, { names, kinds, routes }: PartGroups, number: number): OwnGroup {
    const { service, path } = part.source;
    if (this.by === 'service') {
      const where = service === undefined ? null : whereOf([], service);
      return { service, name: service ?? path, kind: null, system: null, where };
    }
    const key = { service, ...groupKey(part, names[number]!, kinds[number]!, routes[number]!) };
    return { ...key, where: this.#whereOf(part, key, names[number]!, routes[number]!) };
  }

  #find(own: OwnGroup, folded: FoldedNames | undefined): number {
    const { name, service, kind, system, where } = own;
    const isFolded = folded?.keeps(own) === false;
    const key = isFolded ? OtherNames.key(own) : nameKey(own);
    let found = this.#byKey.get(key);
    if (found === undefined) {
      found = this.#tallies.length;
      const others = isFolded ? new OtherNames(name) : undefined;
      this.#tallies.push({
        get name() {
          return others?.text ?? name;
        },
        service: service ?? null,
        kind,
        system,
        errors: 0,
        durations: new Distribution(this.#exact),
        others,
        where: isFolded ? null : where,
      });
      this.#byKey.set(key, found);
    }
    const tally = this.#tallies[found]!;
    tally.others?.add(name);
    // Instrumentations may name one route in two ways.
    if (String(tally.where) !== String(where)) tally.where = null;
    return found;
  }

  #whereOf(
    { names, source }: IndexPart,
    { kind, system }: GroupKind,
    name: number,
    route: number,
  ): string[] {
    const text = names.text(name);
    const path = route === NO_TEXT ? text : names.text(route);
    return whereOf(
      [
        `name=${text}`,
        ...(text.includes(path) ? [] : [`http.route=${path}`]),
        // What is no span has no kind.
        ...(kind === null || (kind === 'internal' && source.format !== 'Heph')
          ? []
          : [`kind=${kind}`]),
        ...(system === null ? [] : [`system=${system}`]),
      ],
      source.service,
    );
  }

  /** The groups, those that took the most time first. */
  get tallies(): GroupTally[] {
    return this.#tallies
      .filter(({ durations }) => durations.count > 0)
      .sort((a, b) => b.durations.total - a.durations.total || (a.name < b.name ? -1 : 1));
  }
}

/** What a group of one part is called, and the values of `--where` that select its spans. */
interface OwnGroup extends NamedGroup {
  where: string[] | null;
}

function whereOf(conditions: readonly string[], service: string | undefined): string[] {
  return service === undefined ? [...conditions] : [...conditions, `service=${service}`];
}

function nameOf({ names }: IndexPart, name: number, route: number): string {
  const text = names.text(name);
  return route === NO_TEXT ? text : routeName(text, names.text(route));
}

function groupKey(
  part: IndexPart,
  name: number,
  kind: number,
  route: number,
): GroupKind & { name: string } {
  const system = part.names.system(name) ?? null;
  return { name: nameOf(part, name, route), kind: KINDS[kind]!, system };
}

/** What a row is called: by its name and its route. */
export function spanName(part: IndexPart, at: number): string {
  return nameOf(part, part.name[at]!, part.route[at]!);
}

function* timedNames(
  part: IndexPart,
  { names, kinds, routes, totals }: PartGroups,
): Generator<TimedName, void> {
  const { service } = part.source;
  for (let number = 0; number < names.length; number++) {
    const key = groupKey(part, names[number]!, kinds[number]!, routes[number]!);
    yield { service, ...key, total: totals[number]! };
  }
}

/** Whether a selection has requests. */
export async function hasRequests(selection: RowSelection, ready: PartsReady): Promise<boolean> {
  for (const part of selection.index.parts) {
    if (!selection.mayHave(part)) continue;
    await ready(part);
    const marks = selection.marksOf(part);
    const { flags } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) !== 0 && isRequest(flags[at]!)) return true;
    }
  }
  return false;
}

/**
 * @param recorded ns of the window in which the service of a group was recorded.
 * @param weight how many spans there were for each that is recorded.
 */
export function groupFigures(
  tallies: readonly GroupTally[],
  recorded: (tally: GroupTally) => number,
  weight: (tally: GroupTally) => number,
  waitsOf: (tally: GroupTally) => GroupWaits,
): Group[] {
  const totalOf = (tally: GroupTally): number => weight(tally) * tally.durations.total;
  const all = tallies.reduce((sum, tally) => sum + totalOf(tally), 0);
  return tallies.map((tally) => {
    const { name, service, kind, system, errors, durations, others, where } = tally;
    const { max } = durations;
    const total = totalOf(tally);
    const count = weight(tally) * durations.count;
    const [p50, p95, p99] = [50, 95, 99].map((percent) => durations.percentile(percent));
    return {
      name,
      service,
      kind,
      system,
      count: Math.round(count),
      errors: Math.round(weight(tally) * errors),
      recorded: durations.count,
      rate: count / (recorded(tally) / 1e9),
      p50: p50!,
      p95: p95!,
      p99: p99!,
      max,
      total,
      share: all === 0 ? 0 : total / all,
      folded: others?.count ?? null,
      where,
      ...waitsOf(tally),
    };
  });
}
