import { declared } from './declared-events.js';
import { models } from './models.js';
import type { ModelName, Models } from './models.js';

export { models } from './models.js';
export type { ModelName, Models } from './models.js';

type Declared = typeof declared;

type McvOf<Signature extends string> = Signature extends `${infer M}${infer C}${infer V}${string}`
  ? `${M}${C}${V}`
  : never;

type ModelOf<Signature extends string> = {
  [Name in ModelName]: Signature extends `${Models[Name]['id']}${string}` ? Name : never;
}[ModelName];

/** The declared events by MCV, as literal types. */
export type Events = {
  readonly [Signature in keyof Declared as McvOf<Signature>]: {
    readonly signature: Signature;
    readonly description: Declared[Signature];
    readonly model: ModelOf<Signature>;
  };
};
/** The MCV of a declared event. */
export type DeclaredMcv = keyof Events;

/** A declared event of any MCV. */
interface EventDeclaration {
  readonly signature: string;
  readonly description: string;
  readonly model: ModelName;
}

const modelByLetter = new Map<string, ModelName>(
  (Object.keys(models) as ModelName[]).map((name) => [models[name].id, name]),
);

/** The model whose events begin with this letter: `'ovni'` for `'O'`. */
export function modelOf(mcv: string): ModelName | undefined {
  return modelByLetter.get(mcv.slice(0, 1));
}

/** The declared events by MCV. */
export const events = Object.fromEntries(
  Object.entries(declared).map(([signature, description]) => [
    signature.slice(0, 3),
    { signature, description, model: modelOf(signature) },
  ]),
) as unknown as Events;

/** The declaration of an event, if any model declares it. */
export function declarationOf(mcv: string): EventDeclaration | undefined {
  return Object.hasOwn(events, mcv) ? events[mcv as DeclaredMcv] : undefined;
}
