import { nameWithTargets } from '../report/request-name.js';
import { countText } from '../report/units.js';
import type { ComparedGroup } from './comparison-shape.js';
import { sharedShift } from './shared-shift.js';

/** What the table says, in a sentence that counts each of its rows once. */
export function comparisonSummary(groups: readonly ComparedGroup[]): string {
  const compared = groups.filter(({ ratio }) => ratio !== null);
  if (compared.length === 0) return 'No kind of span is often enough in both to compare it.';
  const slower = compared.filter(({ change }) => change === 'slower');
  const faster = compared.filter(({ change }) => change === 'faster');
  const few = groups.length - compared.length;
  const same = compared.length - slower.length - faster.length;
  // The table begins with what became slower the most.
  const mostOf = (group: ComparedGroup | undefined): string =>
    group === undefined ? '' : `, ${group.statement ?? nameWithTargets(group)} the most`;
  const counts = [
    `${countText(slower.length)} of ${countText(groups.length)} kinds of spans became slower${mostOf(slower[0])}`,
    `${countText(faster.length)} became faster${mostOf(faster.at(-1))}`,
    `${countText(same)} took about the same`,
    ...(few > 0 ? [`${countText(few)} were too few to compare`] : []),
  ];
  return [`${counts.join('; ')}.`, ...shiftText(groups)].join(' ');
}

function shiftText(groups: readonly ComparedGroup[]): string[] {
  const shift = sharedShift(groups);
  if (shift === undefined) return [];
  const word = shift > 1 ? 'slower' : 'faster';
  return [
    `Nearly all are ${word} alike, by some ${percent(shift).slice(1)}: the machine, or other work on it, may be the cause and not the program. Record both sides again, in turns.`,
  ];
}

/** `47 % slower (41 % to 52 %)` */
export function ratioText({ before, after, ratio, change }: ComparedGroup): string {
  if (before.count === 0) return 'too few to compare: only after';
  if (after.count === 0) return 'too few to compare: only before';
  if (ratio === null) return 'too few to compare';
  const { value, low, high } = ratio;
  if (change === 'same') return `about the same (${rangeText({ ratio })})`;
  // The word says the direction, so the figures need no sign.
  const [word, least, most] =
    value > 1 ? (['slower', low, high] as const) : (['faster', high, low] as const);
  const [size, from, to] = [value, least, most].map((times) => percent(times).slice(1));
  return `${size!} ${word} (${from!} to ${to!})`;
}

/** `−4 % to +11 %`: the confidence interval. */
export function rangeText({ ratio }: Pick<ComparedGroup, 'ratio'>): string {
  return ratio === null ? '' : `${percent(ratio.low)} to ${percent(ratio.high)}`;
}

/** `+4.2 %`, `−12 %`. */
function percent(times: number): string {
  const change = (times - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(Math.abs(change) < 10 ? 1 : 0)} %`;
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
