import { counted } from '../../../core/readable-text.js';
import { weightedPercentile } from '../groups/callees.js';
import type { SampledGroup } from '../groups/callees.js';
import { spansOfRequests } from '../groups/spans-of-requests.js';
import { START } from '../measures/heap-growth.js';
import { countText, roughly, shareText } from '../measures/units.js';
import type { CallsOfRequest, SampledRequest } from '../groups/request-profile.js';
import type { IndexRow } from '../../index/index-row.js';
import { rowAt } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import type { RowSelection, TimeWindow } from '../measures/selection.js';
import type { Finding, FindingRule } from '../shape/finding-shape.js';
import type { Report } from '../shape/report-shape.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import type { StallOfLine } from '../threads/stall-code.js';
import type { TimeWithoutCpu } from '../threads/time-without-cpu.js';

/** What the rules read: the figures of a report, and what they were made of. */
export interface Evidence {
  readonly index: LookIndex;
  readonly selection: RowSelection;
  readonly report: Omit<Report, 'findings'>;
  readonly window: FindingWindow;
  /** Routes, and the requests of each that were looked at; none where groups are no routes. */
  readonly routes: readonly SampledGroup[];
  /** Calls that failed, as far as their records were read. */
  readonly failedCalls: readonly IndexRow[];
  readonly interruptions: InterruptionTally;
  readonly withoutCpu: TimeWithoutCpu;
  /** By number of the report's lines of stalls. */
  readonly stallsOfLines: readonly (readonly StallOfLine[])[];
}

/** A rule of findings: what must be the case for its sentence. */
export interface Rule {
  readonly name: FindingRule;
  /** Whether few requests or a short time do for it. */
  readonly isAlways?: boolean;
  /** Whether it counts requests too while whose process got no CPU. */
  readonly ignoresCpu?: boolean;
  find(evidence: Evidence): Finding[];
}

const THIRDS = 3;

/** The time in which something must be seen: in two of its three thirds. */
export class FindingWindow {
  /** Ns of the index. */
  readonly from: number;
  readonly to: number;
  readonly #index: LookIndex;

  constructor(index: LookIndex, { from, to }: TimeWindow) {
    this.#index = index;
    this.from = Math.max(from, START);
    this.to = to;
  }

  /** Ns. */
  get length(): number {
    return Math.max(1, this.to - this.from);
  }

  /** Whether times, in ns of the index, are in two thirds. The first seconds of a recording do not count. */
  hasInTwo(times: Iterable<number>): boolean {
    const thirds = new Set<number>();
    for (const time of times) if (time >= this.from) thirds.add(this.#thirdOf(time));
    return thirds.size > 1;
  }

  /** Whether something that was first and last seen at these ISO times lasts: its ends are in different thirds. */
  lasts(first: string, last: string): boolean {
    const [begin, end] = [first, last].map((time) => {
      return this.#thirdOf(Date.parse(time) * 1e6 - Number(this.#index.epoch));
    });
    return begin !== end;
  }

  #thirdOf(time: number): number {
    const third = Math.floor(((time - this.from) / this.length) * THIRDS);
    return Math.min(Math.max(third, 0), THIRDS - 1);
  }
}

/**
 * The trace of the request whose duration is in the middle, null if there is none: the longest may have waited for
 * something else.
 */
export function typicalOf(index: LookIndex, requests: readonly SampledRequest[]): string | null {
  const durations = requests.map(({ duration, weight }) => [duration, weight] as const);
  const half = weightedPercentile(durations, 50);
  const middle = requests.find(({ duration }) => duration === half);
  return middle === undefined ? null : rowAt(index, middle.row).traceId;
}

/** Without what ran while its process got no CPU: neighbours on the machine made it slow. */
export function withCpu(evidence: Evidence): Evidence {
  const { index, withoutCpu, routes, failedCalls } = evidence;
  const hadCpu = (row: number, start: number, duration: number): boolean =>
    withoutCpu.overlap(index.partOf(row).source, start, start + duration) === 0;
  return {
    ...evidence,
    routes: routes.map(({ requests, ...route }) => ({
      ...route,
      requests: requests.filter(({ row, start, duration }) => hadCpu(row, start, duration)),
    })),
    failedCalls: failedCalls.filter(({ row, start, duration }) => hadCpu(row, start, duration)),
  };
}

/**
 * Of which part of its requests a route makes such calls: `254 of 508 requests`, counted in all of them where that is
 * possible, else `about 50 % of 508 requests`.
 */
export function partText(
  { selection }: Evidence,
  { group, has }: SampledGroup,
  callee: CallsOfRequest,
  isMeant: (calls: readonly IndexRow[]) => boolean,
  estimate: number,
): string {
  const calls = spansOfRequests(selection, callee, group.service);
  const { recorded } = group;
  if (calls === undefined) {
    return `about ${shareText(roughly(estimate))} of ${counted(recorded, 'request')}`;
  }
  const meant = [...calls].filter(
    ([request, own]) => isMeant(own.filter(({ kind }) => kind === callee.kind)) && has(request),
  );
  return `${countText(meant.length)} of ${counted(recorded, 'request')}`;
}

/** Ns that requests took, of all that they stand for in parts of all weights. */
export function timeOf(requests: readonly SampledRequest[]): number {
  return requests.reduce((sum, { duration, weight }) => sum + duration * weight, 0);
}
