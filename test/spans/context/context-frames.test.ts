import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  contextStorage,
  enterContext,
  findFrames,
  runWithOne,
  storedContext,
} from '../../../src/spans/context/context-storage.js';
import { seeded } from '../seeded.js';

type Storage = AsyncLocalStorage<object | undefined>;

/** From this version on Node keeps contexts in frames. */
const FIRST_WITH_FRAMES = 24;
const hasFrames = Number.parseInt(process.versions.node) >= FIRST_WITH_FRAMES;

test('frames are found where Node has them', () => {
  const storage: Storage = new AsyncLocalStorage();
  const expectFound = (): void => {
    const before = storage.getStore();
    expect(findFrames(storage) !== undefined).toBe(hasFrames);
    expect(storage.getStore()).toBe(before);
  };
  expectFound();
  storage.run({}, expectFound);
});

/** What is done in a context: `own` and its equal of Node are entered together, and `other` by itself. */
interface Program {
  kind: 'run' | 'enter' | 'runOther' | 'enterOther' | 'wait' | 'throw' | 'branch';
  value: object | undefined;
  steps: Program[];
}

const KINDS = ['run', 'run', 'enter', 'runOther', 'enterOther', 'wait', 'throw', 'branch'] as const;

function programOf(random: () => number, depth: number): Program[] {
  return Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const kind = KINDS[Math.floor(random() * KINDS.length)]!;
    return {
      kind,
      // `run` with what is active already enters nothing, and leaves nothing: that is not compared.
      value: kind.startsWith('enter') && random() < 0.3 ? undefined : {},
      steps: depth === 0 ? [] : programOf(random, depth - 1),
    };
  });
}

/** Does the same with contexts and with a storage of Node's, and compares what is active after each step. */
class Twins {
  steps = 0;
  readonly #own = contextStorage();
  readonly #ofNode: Storage = new AsyncLocalStorage();
  readonly #other: Storage = new AsyncLocalStorage();
  /** Of another program that sees nothing of `own`: what is entered there must be as it is here. */
  readonly #otherOfNode: Storage = new AsyncLocalStorage();

  async run(program: readonly Program[]): Promise<void> {
    for (const { kind, value, steps } of program) {
      await this.#step(kind, value, steps);
      this.#compare();
    }
  }

  #compare(): void {
    this.steps++;
    expect(this.#own.getStore()).toBe(this.#ofNode.getStore());
    expect(storedContext()).toBe(this.#ofNode.getStore());
    expect(this.#other.getStore()).toBe(this.#otherOfNode.getStore());
  }

  async #step(kind: Program['kind'], value: Program['value'], steps: Program[]): Promise<void> {
    const inside = async (): Promise<void> => {
      this.#compare();
      await this.run(steps);
    };
    const fail = (): never => {
      throw new Error('of the program');
    };
    switch (kind) {
      case 'run':
        return this.#ofNode.run(value, () => runWithOne(value, inside, undefined));
      case 'runOther':
        return this.#other.run(value, () => this.#otherOfNode.run(value, inside));
      case 'enter':
        this.#ofNode.enterWith(value);
        enterContext(value);
        return;
      case 'enterOther': {
        // Within a run, so that it has to stay after it.
        const enter = (): void => {
          this.#other.enterWith(value);
          this.#otherOfNode.enterWith(value);
        };
        this.#ofNode.run({}, () => {
          runWithOne(this.#ofNode.getStore(), enter, undefined);
        });
        return;
      }
      case 'wait':
        await sleep(0);
        return;
      case 'throw':
        expect(() => this.#ofNode.run(value, () => runWithOne(value, fail, 0))).toThrow();
        return;
      case 'branch':
        await Promise.all([1, 2].map(() => this.#step('run', value, steps)));
    }
  }
}

test('contexts are as with AsyncLocalStorage, next to other storages', async () => {
  let steps = 0;
  for (let seed = 1; seed <= 100; seed++) {
    enterContext(undefined);
    const twins = new Twins();
    await twins.run(programOf(seeded(seed), 3));
    steps += twins.steps;
  }
  expect(steps).toBeGreaterThan(1000);
});

test.runIf(hasFrames)('what is entered alone is as good as what Node enters', async () => {
  const storage: Storage = new AsyncLocalStorage();
  const frames = findFrames(storage)!;
  const outer = {};
  const inner = {};
  await frames.run(
    outer,
    async () => {
      await sleep(0);
      expect(storage.getStore()).toBe(outer);
      expect(storage.run(inner, () => frames.stored())).toBe(inner);
      const other: Storage = new AsyncLocalStorage();
      await other.run(inner, async () => {
        await sleep(0);
        expect([storage.getStore(), other.getStore()]).toEqual([outer, inner]);
      });
      storage.disable();
      expect(frames.stored()).toBeUndefined();
    },
    undefined,
  );
  expect(storage.getStore()).toBeUndefined();
});
