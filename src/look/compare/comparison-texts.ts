import { nameWithTargets } from '../report/names/request-name.js';
import { countText, digits, durationText } from '../report/measures/units.js';
import type { ComparedCalls, ComparedGroup, Ratio } from './comparison-shape.js';

/** Fewer kinds of spans can shift alike by chance, or because one calls the other. */
const LEAST_GROUPS = 5;
/** Of the kinds that are compared, so many must shift alike. */
const LEAST_SHARE = 0.8;
/** And of so many the change must be more than chance. */
const LEAST_NAMED = 0.5;
/** A shift that is worth a sentence: as large as a change that is named. */
const LEAST_SHIFT = Math.log(1.05);
/** A kind shifts alike if it may have changed by half as much to one and a half times as much as the typical one. */
const TOLERANCE = 0.5;

/** A sentence that sums up the table, and counts each of its rows once. */
export function comparisonSummary(groups: readonly ComparedGroup[]): string {
  const compared = groups.filter(({ ratio }) => ratio !== null);
  const changed = [...presenceChanges(groups), ...callChanges(groups)];
  if (compared.length === 0) {
    return ['No kind of span is often enough in both to compare it.', ...changed].join(' ');
  }
  const slower = compared.filter(({ change }) => change === 'slower');
  const faster = compared.filter(({ change }) => change === 'faster');
  const few = groups.filter(({ change }) => change === null).length;
  const same = compared.length - slower.length - faster.length;
  // The table begins with what became slower the most. Calls of several targets may be unlike each other.
  const isAlike = ({ targets }: ComparedGroup): boolean => targets.length < 2;
  const mostOf = (group: ComparedGroup | undefined): string =>
    group === undefined ? '' : `, ${group.statement ?? nameWithTargets(group)} the most`;
  const counts = [
    `${countText(slower.length)} of ${countText(compared.length + few)} kinds of spans became slower${mostOf(slower.find(isAlike))}`,
    `${countText(faster.length)} became faster${mostOf(faster.findLast(isAlike))}`,
    `${countText(same)} took about the same`,
    ...(few > 0 ? [`${countText(few)} were too few to compare`] : []),
  ];
  return [`${counts.join('; ')}.`, ...changed, ...shiftText(groups)].join(' ');
}

/** Groups that hardly are on one of the sides, and what is said of them. */
export const PRESENCES = {
  gone: 'gone',
  new: 'new',
  fewer: 'nearly gone',
  more: 'hardly there before',
} as const;

/** Whether a group hardly is on one of the sides. */
export function isPresence(change: ComparedGroup['change']): change is keyof typeof PRESENCES {
  return change !== null && change in PRESENCES;
}

function presenceChanges(groups: readonly ComparedGroup[]): string[] {
  const changes = groups.map(({ change }) => change);
  return countsText('Other kinds of spans', changes, PRESENCES);
}

const CALL_CHANGES = {
  appeared: 'new',
  vanished: 'gone',
  more: 'more often',
  fewer: 'less often',
} as const;

/** Of calls that are made more or less often a request: how many there are of each. */
function callChanges(groups: readonly ComparedGroup[]): string[] {
  const changes = groups.flatMap(({ calls }) => calls.map(({ change }) => change));
  return countsText('Calls a request makes', changes, CALL_CHANGES);
}

/** `Other kinds of spans: 4 gone, 1 new.`; nothing if there is none. */
function countsText(
  of: string,
  changes: readonly (string | null)[],
  words: Readonly<Record<string, string>>,
): string[] {
  const texts = Object.entries(words).flatMap(([change, text]) => {
    const count = changes.filter((each) => each === change).length;
    return count === 0 ? [] : [`${countText(count)} ${text}`];
  });
  return texts.length === 0 ? [] : [`${of}: ${texts.join(', ')}.`];
}

function shiftText(groups: readonly ComparedGroup[]): string[] {
  const shift = sharedShift(groups);
  if (shift === undefined) return [];
  const word = shift > 1 ? 'slower' : 'faster';
  return [
    `Nearly all are ${word} alike, by some ${percent(shift).slice(1)}: the machine, or other work on it, may be the cause and not the program. Record both sides again, in turns.`,
  ];
}

/** `40 times a request, before 1`, `2 times a request, before never` */
export function callsText({ before, after }: ComparedCalls): string {
  const times = (rate: number): string => (rate === 0 ? 'never' : digits(rate));
  const unit = after === 0 ? '' : ` ${times(after) === '1' ? 'time' : 'times'} a request`;
  return `${times(after)}${unit}, before ${times(before)}`;
}

/** `38 to 42`: the confidence interval; null: a side has no call. */
export function oftenText({ low, high }: ComparedCalls): string | null {
  return low === null || high === null ? null : `${digits(low)} to ${digits(high)}`;
}

/** A tail that changed so many times as much as the mean is named next to it. */
const TAIL_OF_MEAN = 2;

/** `47 % slower (41 % to 52 %)` of the geometric mean, `p95 90 % faster (85 % to 93 %)`. */
export function changeText({ ratio, isMean, tail }: ComparedGroup): string {
  const mean = isMean ? sizeText(ratio!) : undefined;
  if (tail === null) return mean ?? '';
  const own = `p${tail.percent} ${sizeText(tail)}`;
  if (mean === undefined) return own;
  const times = Math.log(tail.value) / Math.log(ratio!.value);
  return times < 0 || times > TAIL_OF_MEAN ? `${mean}, ${own}` : mean;
}

/** From so many times as long on, a percentage says little. */
const MANY_TIMES = 10;

/** An interval whose ends are so many times apart says the direction alone. */
const WIDE = 10;

/** `47 % slower (41 % to 52 %)`, `25 times as fast (20 to 31)`, `slower (too few to say how much)` */
export function sizeText({ value, low, high }: Ratio): string {
  if (high > WIDE * low) return `${value > 1 ? 'slower' : 'faster'} (too few to say how much)`;
  if (value >= MANY_TIMES) return timesText('slow', [value, low, high]);
  if (value <= 1 / MANY_TIMES) return timesText('fast', [1 / value, 1 / high, 1 / low]);
  // The word says the direction, so the figures need no sign.
  const [word, least, most] =
    value > 1 ? (['slower', low, high] as const) : (['faster', high, low] as const);
  const [size, from, to] = [value, least, most].map((times) => percent(times).slice(1));
  return `${size!} ${word} (${from!} to ${to!})`;
}

function timesText(word: string, times: readonly number[]): string {
  const [size, from, to] = times.map((each) => countText(Number(each.toPrecision(2))));
  return `${size!} times as ${word} (${from!} to ${to!})`;
}

/** `−4 % to +11 %`: the confidence interval. */
export function rangeText({ ratio }: Pick<ComparedGroup, 'ratio'>): string {
  return ratio === null ? '' : `${percent(ratio.low)} to ${percent(ratio.high)}`;
}

/** `only after`, `nearly gone`; empty: a group is on both sides. */
export function sideText({ before, after, change }: ComparedGroup): string {
  if (isPresence(change)) return PRESENCES[change];
  if (before.count === 0) return 'only after';
  return after.count === 0 ? 'only before' : '';
}

/** `+4.2 %`, `−12 %`. */
function percent(times: number): string {
  const change = (times - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(Math.abs(change) < 10 ? 1 : 0)} %`;
}

/** Ns: a shorter side has too few spans of most kinds. */
const LEAST_LENGTH = 60e9;

/** That a side is short, by the lengths of both in ns; undefined: none is. */
export function shortSideText(before: number, after: number): string | undefined {
  const short = [
    ...(before < LEAST_LENGTH ? [`before is ${durationText(before)} long`] : []),
    ...(after < LEAST_LENGTH ? [`after is ${durationText(after)} long`] : []),
  ];
  if (short.length === 0) return undefined;
  return `Short recordings: ${short.join(', ')}. Rare spans are too few then: record some minutes of both.`;
}

/** That the sides have no service in common; undefined: they have one, or name none. */
export function differentServicesText(
  before: readonly string[],
  after: readonly string[],
): string | undefined {
  if (before.length + after.length === 0 || before.some((each) => after.includes(each))) {
    return undefined;
  }
  const [first, second] = [before, after].map((names) => names.join(', ') || 'none');
  return `These are different services: ${first!} before, ${second!} after. Spans are compared by their names only.`;
}

/** How many times longer spans of nearly all kinds take, their tails too; undefined: they do not shift alike. */
function sharedShift(groups: readonly ComparedGroup[]): number | undefined {
  // Statements are among the spans of their names.
  const compared = groups.filter(({ ratio, statement }) => ratio !== null && statement === null);
  const ratios = compared.map(({ ratio }) => ratio!);
  if (ratios.length < LEAST_GROUPS) return undefined;
  const shifts = ratios.map(({ value }) => Math.log(value)).sort((a, b) => a - b);
  const typical = shifts[shifts.length >> 1]!;
  if (Math.abs(typical) < LEAST_SHIFT) return undefined;
  const change = typical > 0 ? 'slower' : 'faster';
  const named = compared.filter((group) => group.change === change);
  if (named.length < LEAST_NAMED * compared.length) return undefined;
  const ends = [typical * (1 - TOLERANCE), typical * (1 + TOLERANCE)];
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const alike = compared.filter(({ ratio, tail }) => {
    const [low, high] = [Math.log(ratio!.low), Math.log(ratio!.high)];
    return tail === null && high >= least && low <= most;
  });
  return alike.length >= LEAST_SHARE * ratios.length ? Math.exp(typical) : undefined;
}
