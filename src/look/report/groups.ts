import { KIND_MASK, NO_TEXT, STATUS_MASK, STATUS_SHIFT } from '../index/look-index.js';
import type { IndexPart } from '../index/look-index.js';
import { KINDS, STATUSES } from '../../spans/layout.js';
import { Distribution } from './distribution.js';
import type { Group, GroupBy } from './report-shape.js';
import { SPAN } from './selection.js';
import type { RowSelection } from './selection.js';

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

/** A group while its spans are counted. */
export interface GroupTally {
  name: string;
  service: string | null;
  errors: number;
  durations: Distribution;
}

/** The number of what is in no group. */
export const NO_GROUP = -1;

/** Numbers of the groups of a part's rows, by the numbers of name and route. */
interface PartGroups {
  byName: (number | undefined)[];
  /** A route has one name as a rule, and therefore one group. */
  byRoute: ({ name: number; group: number } | undefined)[];
}

/** What a request is called: OpenTelemetry's instrumentations name some by the method alone. */
function routeName(name: string, route: string): string {
  return name.includes(route) ? name : `${name} ${route}`;
}

/** Puts the spans of a selection into groups. */
export class Grouping {
  readonly by: GroupBy;
  readonly #selection: RowSelection;
  readonly #exact: boolean;
  readonly #requestsOnly: boolean;
  readonly #tallies: GroupTally[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #ofParts = new Map<IndexPart, Int32Array>();

  /** @param requests whether the selection has requests; then groups by route or service are of them. */
  constructor(selection: RowSelection, by: GroupBy, requests: boolean, exact: boolean) {
    this.#selection = selection;
    this.by = by;
    this.#exact = exact;
    this.#requestsOnly = requests && by !== 'name';
  }

  /** Numbers of the groups of a part's rows, as far as the window goes; NO_GROUP for what is in none. */
  numbersOf(part: IndexPart): Int32Array {
    let numbers = this.#ofParts.get(part);
    if (numbers === undefined) this.#ofParts.set(part, (numbers = this.#number(part)));
    return numbers;
  }

  tally(number: number): GroupTally {
    return this.#tallies[number]!;
  }

  /** Counts the spans of a part. */
  count(part: IndexPart): void {
    const numbers = this.numbersOf(part);
    const { flags, duration } = part;
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at]!;
      if (number === NO_GROUP) continue;
      const group = this.#tallies[number]!;
      if (isError(flags[at]!)) group.errors++;
      group.durations.add(duration[at]!);
    }
  }

  #number(part: IndexPart): Int32Array {
    const marks = this.#selection.marksOf(part);
    const { flags, name, route } = part;
    const numbers = new Int32Array(marks.length).fill(NO_GROUP);
    const groups: PartGroups = { byName: [], byRoute: [] };
    const [byService, byRoute] = [this.by === 'service', this.by === 'route'];
    const requestsOnly = this.#requestsOnly;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) === 0 || (requestsOnly && !isRequest(flags[at]!))) continue;
      const named = byService ? 0 : name[at]!;
      const routed = byRoute ? route[at]! : NO_TEXT;
      if (routed === NO_TEXT) {
        numbers[at] = groups.byName[named] ??= this.#find(part, named, routed);
        continue;
      }
      let last = groups.byRoute[routed];
      if (last?.name !== named) {
        last = { name: named, group: this.#find(part, named, routed) };
        groups.byRoute[routed] = last;
      }
      numbers[at] = last.group;
    }
    return numbers;
  }

  #find(part: IndexPart, number: number, route: number): number {
    const { source, names } = part;
    const { service } = source;
    const text = this.by === 'service' ? (service ?? source.path) : names.text(number);
    const name = route === NO_TEXT ? text : routeName(text, names.text(route));
    const key = `${service ?? ''}\n${name}`;
    let found = this.#byKey.get(key);
    if (found === undefined) {
      const durations = new Distribution(this.#exact);
      found = this.#tallies.push({ name, service: service ?? null, errors: 0, durations }) - 1;
      this.#byKey.set(key, found);
    }
    return found;
  }

  /** The groups, those that took the most time first. */
  get tallies(): GroupTally[] {
    return this.#tallies
      .filter(({ durations }) => durations.count > 0)
      .sort((a, b) => b.durations.total - a.durations.total || (a.name < b.name ? -1 : 1));
  }
}

/** Whether a selection has requests. */
export function hasRequests(selection: RowSelection): boolean {
  for (const part of selection.index.parts) {
    const marks = selection.marksOf(part);
    const { flags } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & SPAN) !== 0 && isRequest(flags[at]!)) return true;
    }
  }
  return false;
}

/** @param length of the window in ns. */
export function groupFigures(tallies: readonly GroupTally[], length: number): Group[] {
  const all = tallies.reduce((sum, { durations }) => sum + durations.total, 0);
  return tallies.map(({ name, service, errors, durations }) => {
    const { count, total, max } = durations;
    const [p50, p95, p99] = [50, 95, 99].map((percent) => durations.percentile(percent));
    return {
      name,
      service,
      count,
      errors,
      rate: count / (length / 1e9),
      p50: p50!,
      p95: p95!,
      p99: p99!,
      max,
      total,
      share: all === 0 ? 0 : total / all,
    };
  });
}
