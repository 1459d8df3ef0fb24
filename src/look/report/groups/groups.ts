import { isRequest, isError } from '../../index/index-row.js';
import { UNFINISHED_BIT } from '../../index/look-index.js';
import { KIND_MASK, NO_TEXT } from '../../index/look-index.js';
import type { IndexPart } from '../../index/look-index.js';
import { KINDS } from '../../../spans/layout.js';
import type { SpanKind } from '../../../spans/layout.js';
import type { ReleasedRequests } from '../../../spans/read/released-requests.js';
import { valuesOf } from '../names/recorded-attributes.js';
import { Distribution } from '../measures/distribution.js';
import { FEW_NAMES, FoldedNames, OtherNames, nameKey } from '../names/fold-names.js';
import type { NamedGroup, TimedName } from '../names/fold-names.js';
import type { Group, GroupBy, GroupWaits } from '../shape/report-shape.js';
import { PartGroups } from './part-groups.js';
import { nameOf, routeName } from '../names/row-name.js';
import { SPAN } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import { nextTurn } from '../../index/turns.js';

/** Kind and system of a group's spans; null: there are several. */
interface GroupKind {
  kind: SpanKind | null;
  /** `http`, `redis`; null: they name none. */
  system: string | null;
}

/** A group while its spans are counted. */
export interface GroupTally extends GroupKind {
  readonly name: string;
  service: string | null;
  errors: number;
  /** Requests that were not kept: they are in the figures, and no rows. */
  released: number;
  /** Ns of these. */
  releasedTime: number;
  durations: Distribution;
  /** The names that share the group; undefined: it has one. */
  others: OtherNames | undefined;
  /** Values of `--where` that select its spans; null: they have several names. */
  where: string[] | null;
}

/** The rows of a part that are in a group, ascending, and the numbers of their groups. */
interface GroupedRows {
  rows: Int32Array;
  groups: Int32Array;
}

/** Waits until the columns of a part have been read. */
export type PartsReady = (part: IndexPart) => Promise<void> | undefined;

/** Records that are read in a turn. */
const READ_A_TURN = 1 << 10;

function kindOf(flags: number): number {
  return Math.min(flags & KIND_MASK, KINDS.length - 1);
}

/** Puts the spans of a selection into groups. */
export class Grouping {
  readonly by: GroupBy;
  readonly attributes: readonly string[];
  readonly #selection: RowSelection;
  readonly #exact: boolean;
  readonly #requestsOnly: boolean;
  readonly #tallies: GroupTally[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #ofParts = new Map<IndexPart, GroupedRows>();
  #room: GroupedRows = { rows: new Int32Array(0), groups: new Int32Array(0) };

  /** @param requests whether the selection has requests; then groups by route or service are of them. */
  constructor(
    selection: RowSelection,
    by: GroupBy,
    requests: boolean,
    exact: boolean,
    attributes: readonly string[] = [],
  ) {
    this.#selection = selection;
    this.attributes = attributes;
    this.by = by;
    this.#exact = exact;
    this.#requestsOnly = requests && by !== 'name' && by !== 'attribute';
  }

  /** The rows of a part that are in a group, once `count` has counted them. */
  rowsOf(part: IndexPart): GroupedRows {
    return this.#ofParts.get(part)!;
  }

  /** How many numbers of groups there are. */
  get size(): number {
    return this.#tallies.length;
  }

  tally(number: number): GroupTally {
    return this.#tallies[number]!;
  }

  /** The group of a row, which any part may have. */
  tallyAt(part: IndexPart, at: number): GroupTally | undefined {
    const { rows, groups } = this.rowsOf(part);
    const found = firstAtLeast(rows, at);
    return rows[found] === at ? this.tally(groups[found]!) : undefined;
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
      const isByAttribute = this.by === 'attribute';
      numbered.set(part, isByAttribute ? await this.#numberValues(part) : this.#number(part));
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
    const isLiving = part.source.until !== undefined;
    let count = 0;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) === 0 || (requestsOnly && !isRequest(flags[at]!))) continue;
      // Nobody knows yet how long it takes.
      if (isLiving && (flags[at]! & UNFINISHED_BIT) !== 0) continue;
      const number = byService
        ? numbered.numberOf(0, 0, NO_TEXT)
        : numbered.numberOf(name[at]!, kindOf(flags[at]!), byRoute ? route[at]! : NO_TEXT);
      totals[number]! += duration[at]!;
      rows[count] = at;
      groups[count++] = number;
    }
    this.#ofParts.set(part, { rows: rows.slice(0, count), groups: groups.slice(0, count) });
    return numbered;
  }

  /** The same by the values of attributes, which are read from the records. */
  async #numberValues(part: IndexPart): Promise<PartGroups> {
    const { index } = this.#selection;
    const marks = this.#selection.marksOf(part);
    const { flags, name, duration, firstRow, source } = part;
    const isLiving = source.until !== undefined;
    const { rows, groups } = this.#roomFor(marks.length);
    const numbered = new PartGroups(part);
    let count = 0;
    for (let at = 0; at < marks.length; at++) {
      if (at % READ_A_TURN === 0) await nextTurn();
      if ((marks[at]! & SPAN) === 0 || (isLiving && (flags[at]! & UNFINISHED_BIT) !== 0)) continue;
      const values = valuesOf(index, firstRow + at, this.attributes);
      if (values === undefined) continue;
      const number = numbered.numberOfValues(values, name[at]!, kindOf(flags[at]!));
      numbered.totals[number]! += duration[at]!;
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

  #keyOf(part: IndexPart, groups: PartGroups, number: number): OwnGroup {
    const { service, path } = part.source;
    if (this.by === 'service') {
      const where = service === undefined ? null : whereOf([], service);
      return { service, name: service ?? path, kind: null, system: null, where };
    }
    const key = { service, ...groupKey(part, groups, number) };
    const values = groups.values[number];
    if (values === undefined) {
      const [name, route] = [groups.names[number]!, groups.routes[number]!];
      return { ...key, where: this.#whereOf(part, key, name, route) };
    }
    const { where } = values;
    return { ...key, where: where && whereOf([...where, ...kindsOf(part, key)], service) };
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
        released: 0,
        releasedTime: 0,
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

  #whereOf(part: IndexPart, group: GroupKind, name: number, route: number): string[] {
    const { names, source } = part;
    const text = names.text(name);
    const path = route === NO_TEXT ? text : names.text(route);
    return whereOf(
      [
        `name=${text}`,
        ...(text.includes(path) ? [] : [`http.route=${path}`]),
        ...kindsOf(part, group),
      ],
      source.service,
    );
  }

  /** Whether spans that were not kept are in a group: not operations, where groups are of requests. */
  takesReleased({ kind, isBelow }: ReleasedRequests): boolean {
    const isRequest = !isBelow && (kind === 'server' || kind === 'consumer');
    return this.#requestsOnly ? isRequest : this.by !== 'attribute';
  }

  /** Adds requests that were not kept to their group. */
  addReleased(released: ReleasedRequests, service: string | undefined, path: string): void {
    const { name, route, kind, count, errors, time, durations } = released;
    const isByService = this.by === 'service';
    const ofRoute = this.by === 'route' && route !== '';
    const named = ofRoute ? routeName(name, route) : name;
    const wanted = isByService ? (service ?? path) : named;
    const own = {
      service,
      name: wanted,
      kind: isByService ? null : kind,
      system: null,
      where: null,
    };
    const number = this.#tallies.findIndex(
      (each) =>
        each.name === wanted && each.service === (service ?? null) && each.kind === own.kind,
    );
    const tally = this.#tallies[number === -1 ? this.#find(own, undefined) : number]!;
    tally.released += count;
    tally.releasedTime += time;
    tally.errors += errors;
    tally.durations.addCounted(durations, time);
  }

  /** How many requests are recorded in the groups; 0: groups by attributes do not know. */
  get requests(): number {
    if (this.by === 'attribute') return 0;
    return this.#tallies.reduce((sum, { kind, durations, released }) => {
      const areRequests = this.#requestsOnly || kind === 'server' || kind === 'consumer';
      return areRequests ? sum + durations.count - released : sum;
    }, 0);
  }

  /** The groups, those that took the most time first. */
  get tallies(): GroupTally[] {
    return this.#tallies
      .filter(({ durations }) => durations.count > 0)
      .sort((a, b) => b.durations.total - a.durations.total || (a.name < b.name ? -1 : 1));
  }
}

/** A group of one part, and the values of `--where` that select its spans. */
interface OwnGroup extends NamedGroup {
  where: string[] | null;
}

function whereOf(conditions: readonly string[], service: string | undefined): string[] {
  return service === undefined ? [...conditions] : [...conditions, `service=${service}`];
}

/** Conditions on the kind and the system of a group. */
function kindsOf({ source }: IndexPart, { kind, system }: GroupKind): string[] {
  // What is no span has no kind.
  const hasKind = kind !== null && (kind !== 'internal' || source.format === 'Heph');
  return [...(hasKind ? [`kind=${kind}`] : []), ...(system === null ? [] : [`system=${system}`])];
}

function groupKey(
  part: IndexPart,
  { names, kinds, routes, values }: PartGroups,
  number: number,
): GroupKind & { name: string } {
  const name = names[number]!;
  const system = part.names.system(name) ?? null;
  const label = values[number]?.label ?? nameOf(part, name, routes[number]!);
  return { name: label, kind: KINDS[kinds[number]!]!, system };
}

function* timedNames(part: IndexPart, groups: PartGroups): Generator<TimedName, void> {
  const { service } = part.source;
  for (let number = 0; number < groups.names.length; number++) {
    yield { service, ...groupKey(part, groups, number), total: groups.totals[number]! };
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
  furtherOf: (tally: GroupTally) => GroupWaits & Pick<Group, 'calls' | 'refused'>,
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
      recorded: durations.count - tally.released,
      notKept: tally.released,
      rate: count / (recorded(tally) / 1e9),
      p50: p50!,
      p95: p95!,
      p99: p99!,
      max,
      total,
      share: all === 0 ? 0 : total / all,
      folded: others?.count ?? null,
      where,
      ...furtherOf(tally),
    };
  });
}
