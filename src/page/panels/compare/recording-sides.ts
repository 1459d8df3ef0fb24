import type { SourceAnswer } from '../../../look/wire/answers.js';

/** Sources of one directory: a run of a service, as a rule. */
export interface Run {
  /** What differs in their paths. */
  name: string;
  sources: number[];
}

const SEPARATOR = /[\\/]/;

/** The runs of a recording, the first one first: sources by the part of their paths in which they differ. */
export function runsOf(sources: readonly SourceAnswer[]): Run[] {
  // Traces of services say when they began; others may say no time of their own.
  const ordered = sources.toSorted(
    (a, b) =>
      Number(a.service === undefined) - Number(b.service === undefined) || a.order - b.order,
  );
  const paths = ordered.map(({ path }) => path.split(SEPARATOR));
  const [first = []] = paths;
  let common = 0;
  while (common < first.length && paths.every((path) => path[common] === first[common])) {
    common += 1;
  }
  const runs = new Map<string, number[]>();
  for (const [place, { number }] of ordered.entries()) {
    const name = paths[place]![common] ?? paths[place]!.at(-1)!;
    runs.set(name, [...(runs.get(name) ?? []), number]);
  }
  return [...runs].map(([name, numbers]) => ({ name, sources: numbers }));
}

/** Two runs of the same services: most likely before and after a change. */
export function isBeforeAndAfter(sources: readonly SourceAnswer[], runs: readonly Run[]): boolean {
  const [before, after, ...others] = runs.map(({ sources: numbers }) =>
    sources
      .filter(({ number, service }) => numbers.includes(number) && service !== undefined)
      .map(({ service }) => service!)
      .filter((service, place, all) => all.indexOf(service) === place)
      .sort()
      .join(),
  );
  return others.length === 0 && before !== undefined && before !== '' && before === after;
}
