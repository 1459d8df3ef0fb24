import { framesOf } from '../../../spans/read/profile-part.js';
import type { Profile } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import type { GroupTally } from './groups.js';
import { FlameTally } from './flame.js';
import { CHOSEN } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';
import { functionText, GARBAGE_COLLECTOR } from '../names/code-text.js';
import type { Code } from '../names/code-text.js';
import type { FlameNode } from '../shape/report-shape.js';
import { Codes, LEAST_SAMPLES } from '../threads/profiled-code.js';
import type { RequestOfSample } from '../threads/sampled-requests.js';
import { OWN_CODE, frameOf } from '../threads/stall-code.js';

/** The functions of the program above each sample of the requests of a group within the window; empty: too few. */
export function* sampledCalls(
  selection: RowSelection,
  profiles: readonly Profile[],
  requestOf: RequestOfSample,
  { name, service }: GroupTally,
): Steps<FlameNode[]> {
  const flame = new FlameTally();
  const known = new Codes();
  const { from, to } = selection.window;
  const isChosen = (spanId: string): boolean => {
    const { row } = requestOf(spanId) ?? {};
    return row !== undefined && (selection.marksOf(row.part)[row.at]! & CHOSEN) !== 0;
  };
  for (const profile of profiles) {
    yield;
    const { part, offset } = profile;
    const counts = new Map<number, number>();
    for (const { time, node, span } of part.samples) {
      if (span === -1 || time + offset < from || time + offset > to) continue;
      if (isChosen(part.spans[span]!)) counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    const codeOf = known.of(profile);
    for (const [node, count] of counts) {
      const calls = callsOf(framesOf(part, node), codeOf(node)).map(functionText);
      flame.addPath([nodeOf(name, service), ...calls.map((call) => nodeOf(call, null))], count);
    }
  }
  const { nodes } = flame;
  return (nodes[0]?.total ?? 0) < LEAST_SAMPLES ? [] : nodes;
}

/** The functions of the program, from the outermost to the code that the sample counts for. */
export function callsOf(frames: readonly string[], code: Code): Code[] {
  const calls: Code[] = frames
    .flatMap((frame) => frameOf(frame) ?? [])
    .filter(({ line }) => !line.startsWith('node:') && !line.startsWith(OWN_CODE))
    .reverse();
  const last = calls.at(-1);
  const isLast = last?.function === code.function && last.line === code.line;
  return isLast ? calls : [...calls, code];
}

function nodeOf(name: string, service: string | null) {
  const kind = name === GARBAGE_COLLECTOR ? 'collection' : 'span';
  return { kind, name, service, system: null, target: null } as const;
}
