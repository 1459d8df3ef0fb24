import type { SourceAnswer } from '../../../look/wire/answers.js';

/** Sources of one directory: a run of a service, as a rule. */
export interface Run {
  /** What differs in their paths. */
  name: string;
  sources: number[];
}

const SEPARATOR = /[\\/]/;

/** The runs of a recording: sources by the first part of their paths in which they differ. */
export function runsOf(sources: readonly SourceAnswer[]): Run[] {
  const paths = sources.map(({ path }) => path.split(SEPARATOR));
  const [first = []] = paths;
  let common = 0;
  while (common < first.length && paths.every((path) => path[common] === first[common])) {
    common += 1;
  }
  const runs = new Map<string, number[]>();
  for (const [place, { number }] of sources.entries()) {
    const name = paths[place]![common] ?? paths[place]!.at(-1)!;
    runs.set(name, [...(runs.get(name) ?? []), number]);
  }
  return [...runs].map(([name, numbers]) => ({ name, sources: numbers }));
}
