import { codeOf } from './layout.js';
import { events, models } from './catalog.js';
import type { DeclaredMcv, ModelName } from './catalog.js';

/**
 * What the events of the runtimes' models do to a thread in the emulator. Each of these models keeps a
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

/** The emulator accepts these and changes nothing. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set<DeclaredMcv>([
  ...(['6W*', '6t[', '6t]', '6S@', '6Sr', '6Ss'] as const),
  ...(['VS@', 'VSr', 'VSs', 'VHa', 'VHA', 'VTc', 'VTC', 'VTp', 'VTr', 'VYc', 'VWC'] as const),
  ...(['6Tc', '6Tp', '6Tr', '6Yc'] as const),
  ...(['PBs', 'PBS', 'POc', 'PPc', 'PPx', 'PPe', 'PQx', 'PQe'] as const),
]);

/** Ends of regions that do not follow from the letters of the beginning. */
const ENDS: Readonly<Partial<Record<DeclaredMcv, DeclaredMcv>>> = {
  VSf: 'VSh',
  // One region has two beginnings, and two ends.
  VSn: 'VS[',
  // A running task is a region.
  VTe: 'VTx',
  '6Te': '6Tx',
};
/** Beginnings of regions that are upper case, or have another state than their own. */
const BEGINNINGS: Readonly<Partial<Record<DeclaredMcv, DeclaredMcv>>> = { VSN: 'VS[' };

/** Models that accept a region directly in the same region. */
const NESTS_IN_ITSELF: ReadonlySet<ModelName> = new Set<ModelName>(['nosv', 'openmp']);
/** Regions of one thread at a time, as of any stack in the emulator. */
export const MAX_REGION_DEPTH = 512;

/** Whether the model accepts a region directly in the same region. */
export function nestsInItself(model: ModelName): boolean {
  return NESTS_IN_ITSELF.has(model);
}

function changeOf(mcv: DeclaredMcv, model: ModelName): RegionChange | undefined {
  if (model === 'ovni' || model === 'kernel' || WITHOUT_EFFECT.has(mcv)) return undefined;
  const [, category, value] = mcv as unknown as [string, string, string];
  const runtime = model === 'nosv' || model === 'nanos6';
  if (runtime && category === 'P') {
    return { mcv, model, action: 'set', channel: 'progress', state: mcv };
  }
  const channel = model === 'nanos6' && category === 'H' ? 'role' : 'region';
  const begun = ENDS[mcv];
  if (begun !== undefined) return { mcv, model, action: 'pop', channel, state: begun };
  const other = BEGINNINGS[mcv];
  if (other !== undefined || value === '[' || /[a-z]/.test(value)) {
    return { mcv, model, action: 'push', channel, state: other ?? mcv };
  }
  const beginning = value === ']' ? '[' : value.toLowerCase();
  const state = `${mcv.slice(0, 2)}${beginning}` as DeclaredMcv;
  return { mcv, model, action: 'pop', channel, state };
}

const byCode = new Map<number, RegionChange>();
for (const { signature, model } of Object.values(events)) {
  const mcv = signature.slice(0, 3) as DeclaredMcv;
  const change = changeOf(mcv, model);
  if (change !== undefined) byCode.set(codeOf(mcv), change);
}

/** The progress state in which the threads of a model begin. */
export function firstProgress(model: ModelName): string {
  return `${models[model].id}Pp`;
}

/** What an event does, by `StreamEvent.code`; undefined if it concerns no region. */
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
