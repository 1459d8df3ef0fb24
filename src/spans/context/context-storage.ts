import type { AsyncLocalStorage } from 'node:async_hooks';
import { markUsed } from '../first-use.js';

type Storage = AsyncLocalStorage<object | undefined>;

/** The values of all storages, as Node 24 and later have them: a map by storage. */
interface Frame {
  /** Of maps only. */
  readonly size?: number;
  get(storage: Storage): object | undefined;
  has(storage: Storage): boolean;
}

/**
 * A frame with one storage alone, in a twelfth of the time that a map takes. Its methods are those that Node calls: it
 * asks for a value, copies the frame for another storage, and takes a storage out.
 */
class LoneFrame implements Frame {
  declare storage: Storage | undefined;
  declare context: object | undefined;

  constructor(storage: Storage, context: object | undefined) {
    this.storage = storage;
    this.context = context;
  }

  has(storage: Storage): boolean {
    return storage === this.storage;
  }

  get(storage: Storage): object | undefined {
    return storage === this.storage ? this.context : undefined;
  }

  /** Read by `new Map(frame)`. */
  [Symbol.iterator](): Iterator<[Storage, object | undefined]> {
    const entries: [Storage, object | undefined][] =
      this.storage === undefined ? [] : [[this.storage, this.context]];
    return entries[Symbol.iterator]();
  }

  disable(storage: Storage): void {
    if (storage !== this.storage) return;
    this.storage = undefined;
    this.context = undefined;
  }
}

/** Of contexts that are frames by themselves. */
const IS_FRAME = Symbol('tracewright.frame');

interface OwnFrame {
  readonly [IS_FRAME]?: true;
}

/**
 * Has the objects of a class be frames of this package's storage alone: to enter one makes no object. They get the
 * methods of `LoneFrame`.
 */
export function makeFrames({ prototype }: { readonly prototype: object }): void {
  const methods: Record<string | symbol, unknown> = {
    [IS_FRAME]: true,
    has: (asked: Storage) => asked === storage,
    get(asked: Storage) {
      return asked === storage ? this : undefined;
    },
    [Symbol.iterator]() {
      return [[storage, this]][Symbol.iterator]();
    },
    // Nobody disables the storage.
    disable: () => undefined,
  };
  for (const name of Reflect.ownKeys(methods)) {
    Object.defineProperty(prototype, name, { value: methods[name] });
  }
}

/** Node's class of frames. It is not documented, so `findFrames` tries it before it is used. */
interface FrameClass {
  readonly prototype: Frame;
  current(): Frame | undefined;
  set(frame: Frame | undefined): void;
}

/** Enters contexts of one storage in less time than `AsyncLocalStorage` does. */
export interface ContextFrames {
  /** The value of the storage. */
  stored(): object | undefined;
  enter(context: object | undefined): void;
  /** Enters a context until `leave` gets what this returns. */
  swap(context: object | undefined): unknown;
  leave(before: unknown): void;
  /** Calls `fn` while `context` is entered. */
  run<Value, Result>(
    context: object | undefined,
    fn: (value: Value) => Result,
    value: Value,
  ): Result;
}

/** Node's class of frames; undefined if this Node has none, or an unknown one. */
function frameClass(storage: Storage): FrameClass | undefined {
  const { AsyncResource } = process.getBuiltinModule('node:async_hooks');
  const { types } = process.getBuiltinModule('node:util');
  const probe = {};
  const resource = storage.run(probe, () => new AsyncResource('TRACEWRIGHT')) as object;
  const fields = resource as Record<symbol, unknown>;
  const frame = Object.getOwnPropertySymbols(resource)
    .map((symbol) => fields[symbol])
    .find((value) => types.isMap(value));
  if (frame === undefined || (frame as Frame).get(storage) !== probe) return undefined;
  const Found = (frame as unknown as { constructor: FrameClass }).constructor;
  const isKnown =
    typeof Found.current === 'function' &&
    typeof Found.set === 'function' &&
    Found.prototype === Object.getPrototypeOf(frame);
  return isKnown ? Found : undefined;
}

/** Whether contexts are entered and left as the storages of Node do it. */
function framesWork(frames: ContextFrames, storage: Storage, Frames: FrameClass): boolean {
  const before = Frames.current();
  const other = new (storage.constructor as new () => Storage)();
  const outer = {};
  const inner = {};
  const seen = frames.run(
    outer,
    () => {
      const isOuter = storage.getStore() === outer && frames.stored() === outer;
      const isBoth = other.run(inner, () =>
        frames.run(
          inner,
          () => storage.getStore() === inner && other.getStore() === inner,
          undefined,
        ),
      );
      return isOuter && isBoth && storage.getStore() === outer && other.getStore() === undefined;
    },
    undefined,
  );
  // `other` has left a frame.
  Frames.set(before);
  return seen && frames.run(outer, () => true, undefined) && Frames.current() === before;
}

/**
 * From Node 24 on, `enterWith` and `run` copy a map of all storages. Where this storage is the only one, a smaller
 * frame is enough, and a context that was entered before needs no new one.
 *
 * @returns undefined if this Node has no frames that are known.
 */
export function findFrames(storage: Storage): ContextFrames | undefined {
  try {
    const Frames = frameClass(storage);
    if (Frames === undefined) return undefined;
    const frames = framesOf(storage, Frames);
    return framesWork(frames, storage, Frames) ? frames : undefined;
  } catch {
    return undefined;
  }
}

function framesOf(storage: Storage, Frames: FrameClass): ContextFrames {
  const isFrame = (context: object): boolean => (context as OwnFrame)[IS_FRAME] === true;
  const valueIn = (frame: Frame): object | undefined =>
    isFrame(frame) ? frame : frame.get(storage);
  const isAlone = (frame: Frame): boolean => {
    if (isFrame(frame)) return true;
    return frame instanceof LoneFrame
      ? frame.storage === storage || frame.storage === undefined
      : frame.size === 1 && frame.has(storage);
  };
  /** Enters a context, and returns the frame of it. */
  function enterAfter(before: Frame | undefined, context: object | undefined): Frame | undefined {
    if (before === undefined || isAlone(before)) {
      const isOwn = context !== undefined && isFrame(context);
      const frame = isOwn ? (context as Frame) : new LoneFrame(storage, context);
      Frames.set(frame);
      return frame;
    }
    storage.enterWith(context);
    return Frames.current();
  }
  return {
    stored() {
      const frame = Frames.current();
      return frame === undefined ? undefined : valueIn(frame);
    },
    enter(context) {
      enterAfter(Frames.current(), context);
    },
    swap(context) {
      const before = Frames.current();
      enterAfter(before, context);
      return before;
    },
    leave(before) {
      const to = before as Frame | undefined;
      const now = Frames.current();
      const areAlone = (now === undefined || isAlone(now)) && (to === undefined || isAlone(to));
      // What was entered in other storages meanwhile stays entered.
      if (areAlone) Frames.set(to);
      else storage.enterWith(to === undefined ? undefined : valueIn(to));
    },
    run(context, fn, value) {
      const before = Frames.current();
      const own = enterAfter(before, context);
      try {
        return fn(value);
      } finally {
        // What `fn` has entered in other storages stays entered, as with `AsyncLocalStorage.run`.
        if (Frames.current() === own) Frames.set(before);
        else storage.enterWith(before === undefined ? undefined : valueIn(before));
      }
    },
  };
}

/** The context in a frame of Node, such as native code takes while something runs. */
export function contextOfFrame(frame: object): object | undefined {
  if (storage === undefined) return undefined;
  if (frame instanceof LoneFrame || (frame as OwnFrame)[IS_FRAME] === true)
    return (frame as Frame).get(storage);
  const { types } = process.getBuiltinModule('node:util');
  return types.isMap(frame) ? (frame.get(storage) as object | undefined) : undefined;
}

/** Made when something is active for the first time: until then asking costs nothing. */
let storage: Storage | undefined;
/** Of the storage; undefined: Node keeps contexts in another way, as before Node 24. */
let frames: ContextFrames | undefined;

/** The `ActiveContext` of the calling code. */
export function storedContext(): object | undefined {
  if (storage === undefined) return undefined;
  return frames === undefined ? storage.getStore() : frames.stored();
}

/** The storage itself. */
export function contextStorage(): Storage {
  if (storage === undefined) {
    const { AsyncLocalStorage: NodeStorage } = process.getBuiltinModule('node:async_hooks');
    storage = new NodeStorage<object | undefined>();
    frames = findFrames(storage);
    markUsed();
  }
  return storage;
}

/**
 * Whether Node keeps contexts in asynchronous resources, as before Node 24. What is entered in a callback then stays
 * for the next one of the same source. Later Nodes call each in the context in which its source was made.
 */
export function areInResources(): boolean {
  // The name of the property.
  return 'kResourceStore' in contextStorage();
}

/** Makes a context active in the calling code and what it starts, where there is no function to call. */
export function enterContext(context: object | undefined): void {
  const entered = storage ?? contextStorage();
  if (frames !== undefined) frames.enter(context);
  else entered.enterWith(context);
}

/** Makes a context active in the calling code until `leaveContext` gets what this returns. */
export function swapContext(context: object | undefined): unknown {
  const entered = storage ?? contextStorage();
  if (frames !== undefined) return frames.swap(context);
  const before = entered.getStore();
  entered.enterWith(context);
  return before;
}

/** Ends what `swapContext` has begun, in the same call of the program. */
export function leaveContext(before: unknown): void {
  if (frames !== undefined) frames.leave(before);
  else contextStorage().enterWith(before as object | undefined);
}

/** Calls `fn` with the arguments while `context` is active. */
export function runWith<Arguments extends unknown[], Result>(
  context: object | undefined,
  fn: (...values: Arguments) => Result,
  ...values: Arguments
): Result {
  return runWithOne(context, (all: Arguments) => fn(...all), values);
}

/** As `runWith`, of a method and its object. It makes no function and no list. */
export function applyIn<Self, Arguments extends unknown[], Result>(
  context: object | undefined,
  fn: (this: Self, ...values: Arguments) => Result,
  self: Self,
  values: Arguments,
): Result {
  const before = swapContext(context);
  try {
    return fn.apply(self, values);
  } finally {
    leaveContext(before);
  }
}

/** As `runWith` with one argument. It has no list of arguments to pass on, which Node's own `run` has. */
export function runWithOne<Value, Result>(
  context: object | undefined,
  fn: (value: Value) => Result,
  value: Value,
): Result {
  const entered = storage ?? contextStorage();
  if (frames !== undefined) return frames.run(context, fn, value);
  return entered.run(context, fn, value);
}
