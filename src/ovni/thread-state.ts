import { codeOf } from './reader.js';

/** The states of a thread in the emulator. */
export type ThreadState = 'unknown' | 'running' | 'paused' | 'cooling' | 'warming' | 'dead';

export interface Transition {
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

/** The transition that an event stands for, by `StreamEvent.code`, if it is one. */
export function transitionOf(code: number): Transition | undefined {
  return byCode.get(code);
}

/** Whether a thread in this state holds a CPU. */
export function holdsCpu(state: ThreadState): boolean {
  return state !== 'unknown' && state !== 'dead';
}

/** Running, cooling or warming. */
export function isActive(state: ThreadState): boolean {
  return state === 'running' || state === 'cooling' || state === 'warming';
}
