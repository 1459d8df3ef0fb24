import { entryOf } from '../../../core/map-entries.js';
import { framesOf } from '../../../spans/read/profile-part.js';
import type { Profile } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import type { RowSelection } from '../measures/selection.js';
import type { ProfiledCode } from '../shape/thread-shape.js';
import type { RequestOfSample } from './sampled-requests.js';
import { OWN_CODE, codeOfStack } from './stall-code.js';

/** Functions of a service, and of each of its routes. */
const MOST_OF_SERVICE = 20;
const MOST_OF_ROUTE = 3;
/** A share of so few samples says nothing. */
export const LEAST_SAMPLES = 10;

export type Code = Pick<ProfiledCode, 'function' | 'line'>;

export function keyOf({ function: name, line }: Code): string {
  return `${name}\n${line}`;
}

/** Samples of one service or route. */
class CodeTally {
  readonly #codes = new Map<string, ProfiledCode>();
  #samples = 0;

  get samples(): number {
    return this.#samples;
  }

  add(code: Omit<ProfiledCode, 'time' | 'samples' | 'share'>, interval: number): void {
    this.#samples++;
    const own = entryOf(this.#codes, keyOf(code), () => ({
      ...{ ...code, samples: 0, time: 0, share: 0 },
    }));
    own.samples++;
    own.time += interval;
  }

  top(most: number): ProfiledCode[] {
    if (this.#samples < LEAST_SAMPLES) return [];
    return [...this.#codes.values()]
      .map((code) => ({ ...code, share: code.samples / this.#samples }))
      .sort((a, b) => b.samples - a.samples)
      .slice(0, most);
  }
}

/** How many samples were at which lines of each function. */
class HotLines {
  readonly #counts = new Map<string, Map<string, number>>();

  add({ part }: Profile, codes: (node: number) => Code): void {
    for (const { node, line, count } of part.lines) {
      const code = codes(node);
      const script = code.line.slice(0, code.line.lastIndexOf(':'));
      // The sample may have been in what the function had called.
      const [innermost] = framesOf(part, node);
      if (script === '' || innermost?.includes(`${code.line}:`) !== true) continue;
      const counts = entryOf(this.#counts, keyOf(code), () => new Map<string, number>());
      const at = `${script}:${line}`;
      counts.set(at, (counts.get(at) ?? 0) + count);
    }
  }

  /** The line of a function at which most samples were; else that of the function. */
  of(code: Code): string {
    const [most] = [...(this.#counts.get(keyOf(code)) ?? [])].sort(([, a], [, b]) => b - a);
    return most?.[0] ?? code.line;
  }
}

/** What ran by the samples within the window: of each service, and of those of its routes whose spans are known. */
export function* profiledCode(
  { index, window }: RowSelection,
  profiles: readonly Profile[],
  requestOf: RequestOfSample,
): Steps<ProfiledCode[]> {
  const lines = new HotLines();
  const services = new Map<string | null, Map<string | null, CodeTally>>();
  for (const profile of profiles) {
    yield;
    const { part, offset, source } = profile;
    const service = index.sources[source]!.service ?? null;
    const tallies = entryOf(services, service, () => new Map<string | null, CodeTally>());
    const codes = codesOf(profile);
    lines.add(profile, codes);
    for (const { time, node, span } of part.samples) {
      if (time + offset < window.from || time + offset > window.to) continue;
      const code = { service, route: null, ...codes(node) };
      entryOf(tallies, null, () => new CodeTally()).add(code, part.interval);
      if (span === -1) continue;
      const { route } = requestOf(part.spans[span]!) ?? {};
      if (route === undefined) continue;
      entryOf(tallies, route, () => new CodeTally()).add({ ...code, route }, part.interval);
    }
  }
  return [...services.values()].flatMap((tallies) =>
    [...tallies]
      .sort(([a], [b]) => Number(b === null) - Number(a === null))
      .sort(([a, one], [b, other]) => (a === null || b === null ? 0 : other.samples - one.samples))
      .flatMap(([route, tally]) => tally.top(route === null ? MOST_OF_SERVICE : MOST_OF_ROUTE))
      .map((code) => ({ ...code, line: lines.of(code) })),
  );
}

/** The code of a node: of the program, or of Tracewright, or else what runs without either. */
export function codesOf({ part }: Profile): (node: number) => Code {
  const known = new Map<number, Code>();
  return (node) =>
    entryOf(known, node, () => {
      const frames = framesOf(part, node);
      const code = codeOfStack(frames.join('\n'));
      if (code === null || (code.line.startsWith('node:') && frames[0]?.startsWith('at ') !== true))
        return { function: frames[0] ?? null, line: '' };
      if (code.line.startsWith(OWN_CODE)) return { function: 'Tracewright', line: '' };
      return { function: code.function, line: code.line };
    });
}
