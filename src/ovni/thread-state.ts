import { codeOf } from './layout.js';

/** The states of a thread in the emulator. */
export type ThreadState = 'unknown' | 'running' | 'paused' | 'cooling' | 'warming' | 'dead';

interface Transition {
  readonly mcv: string;
  readonly from: readonly ThreadState[];
  readonly to: ThreadState;
}

const transitions: readonly Transition[] = [
  { mcv: 'OHx', from: ['unknown', 'dead'], to: 'running' },
  { mcv: 'OHp', from: ['running', 'cooling'], to: 'paused' },
  { mcv: 'OHc', from: ['running'], to: 'cooling' },
  { mcv: 'OHw', from: ['paused'], to: 'warming' },
  { mcv: 'OHr', from: ['paused', 'warming'], to: 'running' },
  { mcv: 'OHe', from: ['running', 'cooling'], to: 'dead' },
];

const byCode = new Map(transitions.map((transition) => [codeOf(transition.mcv), transition]));

/** The transition of a state event, by `StreamEvent.code`; undefined for other events. */
export function transitionOf(code: number): Transition | undefined {
  return byCode.get(code);
}

/** Whether the reader of this version accepts the transition from this state. */
export function isLegal(transition: Transition, from: ThreadState, version: 1 | 3): boolean {
  // The reader of version 1 refuses an end from cooling.
  if (version === 1 && transition.to === 'dead' && from === 'cooling') return false;
  return transition.from.includes(from);
}

/** The fewest transitions from one state to another; none if there is no way. */
export function stepsBetween(from: ThreadState, to: ThreadState, version: 1 | 3): Transition[] {
  const ways = new Map<ThreadState, Transition[]>([[from, []]]);
  // A map also iterates over entries that are added meanwhile, in order: nearer states come first.
  for (const [state, way] of ways) {
    if (state === to) return way;
    for (const transition of transitions) {
      if (isLegal(transition, state, version) && !ways.has(transition.to)) {
        ways.set(transition.to, [...way, transition]);
      }
    }
  }
  return [];
}

/** Whether a thread in this state holds a CPU. */
export function holdsCpu(state: ThreadState): boolean {
  return state !== 'unknown' && state !== 'dead';
}

/** Running, cooling or warming. */
export function isActive(state: ThreadState): boolean {
  return state === 'running' || state === 'cooling' || state === 'warming';
}
