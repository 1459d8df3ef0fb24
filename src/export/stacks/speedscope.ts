import type { StackFrame, ThreadStacks } from './sampled-stacks.js';

/** Stacks in the file format of https://www.speedscope.app: a flame chart of each thread, and a profile of what it allocated. */
export function speedscopeText(threads: readonly ThreadStacks[]): string {
  const numbers = new Map<string, number>();
  const frames: object[] = [];
  const numberOf = ({ name, file, line }: StackFrame): number => {
    const key = JSON.stringify([name, file, line]);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, frames.length);
    frames.push({ name, ...(file === '' ? {} : { file }), ...(line === 0 ? {} : { line }) });
    return frames.length - 1;
  };
  const profiles = threads.map(({ thread, unit, stacks }) => {
    const weights = stacks.map(({ weight }) => weight);
    return {
      type: 'sampled',
      name: thread,
      unit,
      startValue: 0,
      endValue: weights.reduce((sum, weight) => sum + weight, 0),
      samples: stacks.map((stack) => stack.frames.map(numberOf)),
      weights,
    };
  });
  return JSON.stringify({
    version: '0.0.1',
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'tracewright',
    shared: { frames },
    profiles,
  });
}
