import { codeOf } from './layout.js';
import { modelOf, models, pairs } from './catalog.js';
import type { DeclaredMcv, ModelName } from './catalog.js';

/**
 * Effects of the runtimes' events on a thread in the emulator. Each of these models keeps a
 * stack of the regions that the thread is in, and some models a progress state.
 */
export interface RegionChange {
  readonly mcv: DeclaredMcv;
  readonly model: ModelName;
  readonly action: 'push' | 'pop' | 'set';
  /** The stack, or the state that is set. Threads of nanos6 have a role next to their regions. */
  readonly channel: 'region' | 'role' | 'progress';
  /** The event that begins the region; of a progress state the event itself. */
  readonly state: DeclaredMcv;
}

/** A running task is a region. */
const TASKS = [
  ['VTx', 'VTe'],
  ['6Tx', '6Te'],
] as const;
/** The emulator accepts these and their ends, and changes nothing. */
const WITHOUT_EFFECT: ReadonlySet<DeclaredMcv> = new Set<DeclaredMcv>(['6t[', 'PBs']);
/** Progress states; each runtime begins with the first one. */
const PROGRESS = ['Pp', 'Pr', 'Pa'] as const;

/** Models that accept a region directly in the same region. */
const NESTS_IN_ITSELF: ReadonlySet<ModelName> = new Set<ModelName>(['nosv', 'openmp']);
/** Regions of one thread at a time, as of any stack in the emulator. */
export const MAX_REGION_DEPTH = 512;

/** Whether the model accepts a region directly in the same region. */
export function nestsInItself(model: ModelName): boolean {
  return NESTS_IN_ITSELF.has(model);
}

const byCode = new Map<number, RegionChange>();
for (const [begin, end] of [...pairs, ...TASKS]) {
  const model = modelOf(begin)!;
  if (model === 'ovni' || WITHOUT_EFFECT.has(begin)) continue;
  const channel = model === 'nanos6' && begin[1] === 'H' ? 'role' : 'region';
  // One region has two beginnings, and two ends.
  const state = begin === 'VSN' ? 'VS[' : begin;
  byCode.set(codeOf(begin), { mcv: begin, model, action: 'push', channel, state });
  byCode.set(codeOf(end), { mcv: end, model, action: 'pop', channel, state });
}
for (const model of ['nosv', 'nanos6'] as const) {
  for (const letters of PROGRESS) {
    const mcv = `${models[model].id}${letters}` as const;
    byCode.set(codeOf(mcv), { mcv, model, action: 'set', channel: 'progress', state: mcv });
  }
}

/** The progress state in which the threads of a model begin. */
export function firstProgress(model: ModelName): string {
  return `${models[model].id}${PROGRESS[0]}`;
}

/** The effect of an event, by `StreamEvent.code`; undefined if it concerns no region. */
export function regionChangeOf(code: number): RegionChange | undefined {
  return byCode.get(code);
}

const TASK_LETTERS: ReadonlySet<string> = new Set([
  ...[models.nosv.id, models.nanos6.id].flatMap((id) => [`${id}T`, `${id}Y`]),
  ...['O', 'P', 'Q'].map((category) => `${models.openmp.id}${category}`),
]);

/** Whether an event concerns tasks, which the threads of a process share. */
export function concernsTasks(mcv: string): boolean {
  return TASK_LETTERS.has(mcv.slice(0, 2));
}
