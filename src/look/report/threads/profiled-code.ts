import { entryOf } from '../../../core/map-entries.js';
import { framesOf } from '../../../spans/read/profile-part.js';
import type { Profile } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { codeName } from '../names/code-text.js';
import type { Code } from '../names/code-text.js';
import type { RowSelection } from '../measures/selection.js';
import type { ProfiledCode } from '../shape/thread-shape.js';
import type { RequestOfSample } from './sampled-requests.js';
import { OWN_CODE, codeOfFrames } from './stall-code.js';

/** Functions of a service, and of each of its routes. */
const MOST_OF_SERVICE = 20;
const MOST_OF_ROUTE = 3;
/** A share of so few samples says nothing. */
export const LEAST_SAMPLES = 10;

/** The code of the nodes of profiles. What is equal is the same object. */
export class Codes {
  readonly #known = new Map<string, Code>();

  of({ part }: Profile): (node: number) => Code {
    const ofNodes = new Map<number, Code>();
    return (node) =>
      entryOf(ofNodes, node, () => {
        const code = codeOf(framesOf(part, node));
        return entryOf(this.#known, codeName(code), () => code);
      });
  }
}

/** The code that ran: of the program, or of Tracewright, or else what runs without either. */
function codeOf(frames: readonly string[]): Code {
  const code = codeOfFrames(frames);
  if (code === null || (code.line.startsWith('node:') && frames[0]?.startsWith('at ') !== true))
    return { function: frames[0] ?? null, line: '' };
  if (code.line.startsWith(OWN_CODE)) return { function: 'Tracewright', line: '' };
  return { function: code.function, line: code.line };
}

/** Samples of one service or route. */
class CodeTally {
  readonly #of: Pick<ProfiledCode, 'service' | 'route'>;
  readonly #codes = new Map<Code, ProfiledCode>();
  #samples = 0;

  constructor(service: string | null, route: string | null) {
    this.#of = { service, route };
  }

  get samples(): number {
    return this.#samples;
  }

  add(code: Code, interval: number): void {
    this.#samples++;
    const own = entryOf(this.#codes, code, () => ({
      ...{ ...this.#of, ...code, samples: 0, time: 0, share: 0 },
    }));
    own.samples++;
    own.time += interval;
  }

  top(most: number): [Code, ProfiledCode][] {
    if (this.#samples < LEAST_SAMPLES) return [];
    const sorted = [...this.#codes].sort(([, a], [, b]) => b.samples - a.samples);
    for (const [, each] of sorted) each.share = each.samples / this.#samples;
    return sorted.slice(0, most);
  }
}

function scriptOf({ line }: Code): string {
  return line.slice(0, line.lastIndexOf(':'));
}

/** How many samples were at which lines of each function. */
class HotLines {
  readonly #counts = new Map<Code, Map<number, number>>();

  add({ part }: Profile, codes: (node: number) => Code): void {
    for (const { node, line, count } of part.lines) {
      const code = codes(node);
      // The sample may have been in what the function had called.
      const innermost = part.frames[part.nodes[node]!]!;
      if (code.line === '' || !innermost.includes(`${code.line}:`)) continue;
      const counts = entryOf(this.#counts, code, () => new Map<number, number>());
      counts.set(line, (counts.get(line) ?? 0) + count);
    }
  }

  /** The line of a function at which most samples were; else that of the function. */
  of(code: Code): string {
    const [most] = [...(this.#counts.get(code) ?? [])].sort(([, a], [, b]) => b - a);
    return most === undefined ? code.line : `${scriptOf(code)}:${most[0]}`;
  }
}

/** What ran by the samples within the window: of each service, and of those of its routes whose spans are known. */
export function* profiledCode(
  { index, window }: RowSelection,
  profiles: readonly Profile[],
  requestOf: RequestOfSample,
): Steps<ProfiledCode[]> {
  const lines = new HotLines();
  const known = new Codes();
  const services = new Map<string | null, Map<string | null, CodeTally>>();
  for (const profile of profiles) {
    yield;
    const { part, offset, source } = profile;
    const service = index.sources[source]!.service ?? null;
    const tallies = entryOf(services, service, () => new Map<string | null, CodeTally>());
    const tallyOf = (route: string | null): CodeTally =>
      entryOf(tallies, route, () => new CodeTally(service, route));
    const codes = known.of(profile);
    lines.add(profile, codes);
    for (const { time, node, span } of part.samples) {
      if (time + offset < window.from || time + offset > window.to) continue;
      const code = codes(node);
      tallyOf(null).add(code, part.interval);
      if (span === -1) continue;
      const { route } = requestOf(part.spans[span]!) ?? {};
      if (route === undefined) continue;
      tallyOf(route).add(code, part.interval);
    }
  }
  return [...services.values()].flatMap((tallies) =>
    [...tallies]
      .sort(([a], [b]) => Number(b === null) - Number(a === null))
      .sort(([a, one], [b, other]) => (a === null || b === null ? 0 : other.samples - one.samples))
      .flatMap(([route, tally]) => tally.top(route === null ? MOST_OF_SERVICE : MOST_OF_ROUTE))
      .map(([code, of]) => ({ ...of, line: lines.of(code) })),
  );
}
