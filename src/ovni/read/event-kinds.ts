import { declarationOf, modelOf } from '../catalog.js';
import type { ModelName } from '../catalog.js';
import { mcvOf } from '../layout.js';
import { concernsTasks } from '../model-regions.js';
import { shapeOf } from '../signature.js';
import type { Shape } from '../signature.js';
import { signatureOf } from './event-arguments.js';

/** The state of a thread that the emulator requires for an event of a model. */
export const activity: Readonly<Record<ModelName, 'any' | 'active' | 'running'>> = {
  ovni: 'any',
  kernel: 'any',
  nosv: 'active',
  nanos6: 'active',
  nodes: 'running',
  mpi: 'running',
  openmp: 'running',
  tampi: 'running',
};

/** The rules for an MCV, found when it first occurs. */
export interface Kind extends Shape {
  readonly model: ModelName | undefined;
  readonly declared: boolean;
  /** Whether its data end in a text, which is a label in all declared events. */
  readonly labelled: boolean;
  /** Whether it concerns tasks, which are checked in the order of all threads. */
  readonly task: boolean;
}

export function kindOf(code: number): Kind {
  const mcv = mcvOf(code);
  const signature = signatureOf(code);
  return {
    model: modelOf(mcv),
    declared: declarationOf(mcv) !== undefined,
    labelled: signature?.args.at(-1)?.type === 'str',
    task: concernsTasks(mcv),
    ...(signature === undefined ? { jumbo: false, bytes: 0 } : shapeOf(signature)),
  };
}
