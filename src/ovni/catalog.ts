import { declared } from './declared-events.js';
import { models } from './metadata-keys.js';
import type { ModelName, Models } from './metadata-keys.js';

export { models } from './metadata-keys.js';
export type { ModelName, Models } from './metadata-keys.js';

type Declared = typeof declared;

/** The first and the last letters of a line that is two events. */
type Pair<Line> = Line extends `${infer M}${infer C}${infer B}${infer E}${infer Rest}`
  ? Rest extends ''
    ? [`${M}${C}${B}`, `${M}${C}${E}`]
    : never
  : never;

type McvOf<Signature extends string> = Signature extends `${infer M}${infer C}${infer V}${string}`
  ? `${M}${C}${V}`
  : never;

type ModelOf<Signature extends string> = {
  [Name in ModelName]: Signature extends `${Models[Name]['id']}${string}` ? Name : never;
}[ModelName];

interface Event<Signature extends string, Description> {
  readonly signature: Signature;
  readonly description: Description;
  readonly model: ModelOf<Signature>;
}

/** The declared events by MCV, as literal types. */
export type Events = {
  readonly [Line in keyof Declared as McvOf<Line>]: [Pair<Line>] extends [never]
    ? Event<Line, Declared[Line]>
    : Event<Pair<Line>[0], `${Declared[Line]} begins`>;
} & {
  readonly [Line in keyof Declared as Pair<Line>[1]]: Event<
    Pair<Line>[1],
    `${Declared[Line]} ends`
  >;
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

const all: [mcv: string, declaration: object][] = [];
/** The events that begin something, each with the one that ends it. */
export const pairs: (readonly [begin: DeclaredMcv, end: DeclaredMcv])[] = [];

function declare(signature: string, description: string): DeclaredMcv {
  const mcv = signature.slice(0, 3);
  all.push([mcv, { signature, description, model: modelOf(mcv) }]);
  return mcv as DeclaredMcv;
}

for (const [line, text] of Object.entries(declared)) {
  if (line.length !== 4) declare(line, text);
  else {
    const end = line.slice(0, 2) + line.slice(3);
    pairs.push([declare(line.slice(0, 3), `${text} begins`), declare(end, `${text} ends`)]);
  }
}

/** The declared events by MCV. */
export const events = Object.fromEntries(all) as unknown as Events;

/** The declaration of an event, if any model declares it. */
export function declarationOf(mcv: string): EventDeclaration | undefined {
  return Object.hasOwn(events, mcv) ? events[mcv as DeclaredMcv] : undefined;
}
