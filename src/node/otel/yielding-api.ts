import { API_KEY } from './first-look.js';
import type { GlobalApi } from './first-look.js';
import type { TracerProvider } from '@opentelemetry/api';

/**
 * OpenTelemetry's global object, with ours in it until another provider registers. All copies of `@opentelemetry/api`
 * look here, those inside bundles too.
 *
 * A copy that registers assigns the global first, to the value that it has just read. A look-up never
 * assigns. So an accessor can distinguish the two:
 *
 *     look-up:       get global, (get version, get global,) get part
 *     registration:  get global, set global, get part, get version, set part
 *
 * A registration fails if the part is there, or if the version is not that of the copy. So the part is
 * absent then, and the version is what the caller's is.
 */

/** Parts that a program may register and that we serve too. */
export type Part = 'trace' | 'context' | 'propagation';

export type Parts = Readonly<Record<Part, object>>;

interface ApiOwner {
  /** The parts that are served, from the first look-up on; undefined: none. It must not throw. */
  parts(): Parts | undefined;
  /** The version of the copy that has called `setter`. It must not throw. */
  callerVersion(setter: (value: unknown) => void): string | undefined;
  /** Whether a provider or a context manager is of this package. It must not throw. */
  isOwn(instance: unknown): boolean;
  /** A registration of this package has taken the place of `part`, and only of that. It must not throw. */
  joined(part: Part, api: GlobalApi): void;
  /** Another registration has taken the place of `part`. It must not throw. */
  replaced(part: Part, api: GlobalApi): void;
  /** A registration of `part` was refused by its own copy: the version was wrong. It must not throw. */
  refused(part: Part): void;
}

const PARTS: readonly Part[] = ['trace', 'context', 'propagation'];

/** A copy serves globals of its own minor version and of later ones. */
const VERSION_FOR_ALL = '1.999.0';

/** Where a registration is. */
const NONE = 0;
const BEGUN = 1;
const COMPARED = 2;

/** Puts an object of ours into OpenTelemetry's global registration. */
export class YieldingApi {
  readonly #owner: ApiOwner;
  readonly #api: GlobalApi = {};
  #state = NONE;
  /** The part that is being registered, once it is known. */
  #asked: Part | undefined;
  #callerVersion: string | undefined;
  #isOurs = true;

  /** @param others what was registered already, and is none of ours: `diag`, `metrics`. */
  constructor(owner: ApiOwner, others: GlobalApi) {
    this.#owner = owner;
    for (const [name, value] of Object.entries(others)) {
      if (name !== 'version') this.#api[name] = value;
    }
    Object.defineProperty(this.#api, 'version', {
      configurable: true,
      enumerable: true,
      get: () => this.#version(),
    });
    for (const part of PARTS) this.#serve(part, true);
    const set = (value: unknown): void => {
      if (value === this.#api) this.#register(set);
      else this.#giveUp(value);
    };
    Object.defineProperty(globalThis, API_KEY, {
      configurable: true,
      enumerable: true,
      get: () => {
        if (this.#state !== NONE) this.#settle();
        return this.#api;
      },
      set,
    });
  }

  /** @param isThere false: the program has disabled this part. */
  #serve(part: Part, isThere: boolean): void {
    Object.defineProperty(this.#api, part, {
      configurable: true,
      enumerable: true,
      get: () => {
        if (this.#state === NONE) return isThere ? this.#owner.parts()?.[part] : undefined;
        this.#asked = part;
        return undefined;
      },
      set: (instance: unknown) => {
        this.#replace(part, instance);
      },
    });
  }

  #version(): string {
    if (this.#state === NONE) return VERSION_FOR_ALL;
    this.#state = COMPARED;
    return this.#callerVersion ?? VERSION_FOR_ALL;
  }

  /** A copy begins to register something. */
  #register(setter: (value: unknown) => void): void {
    this.#state = BEGUN;
    this.#asked = undefined;
    this.#callerVersion = this.#owner.callerVersion(setter);
    // A copy that disables a part deletes it. What comes next must be noticed all the same.
    for (const part of PARTS) {
      if (!Object.hasOwn(this.#api, part)) this.#serve(part, false);
    }
  }

  /** The next look-up: the registration before it is over, one way or the other. */
  #settle(): void {
    const asked = this.#asked;
    const wasCompared = this.#state === COMPARED;
    this.#state = NONE;
    this.#asked = undefined;
    if (wasCompared && asked !== undefined) this.#owner.refused(asked);
  }

  #replace(part: Part, instance: unknown): void {
    this.#state = NONE;
    this.#asked = undefined;
    this.#setData(part, instance);
    if (part === 'trace') {
      findRegistered(instance, (provider) => {
        this.#decide(part, provider);
      });
    } else {
      this.#decide(part, instance);
    }
  }

  #decide(part: Part, instance: unknown): void {
    if (this.#owner.isOwn(instance)) {
      this.#owner.joined(part, this.#api);
      return;
    }
    // Propagators alone say nothing of where spans go.
    if (part !== 'propagation') this.#withdraw();
    this.#owner.replaced(part, this.#api);
  }

  /** From here on it is the ordinary object of the copy that has registered. */
  #withdraw(): void {
    if (!this.#isOurs) return;
    this.#isOurs = false;
    for (const part of PARTS) {
      const isData = Object.getOwnPropertyDescriptor(this.#api, part)?.writable === true;
      if (!isData) Reflect.deleteProperty(this.#api, part);
    }
    Object.defineProperty(this.#api, 'version', {
      configurable: false,
      enumerable: true,
      writable: false,
      value: this.#callerVersion ?? VERSION_FOR_ALL,
    });
    this.#setGlobal(this.#api);
  }

  /** A program has put another object in its stead. */
  #giveUp(value: unknown): void {
    this.#isOurs = false;
    this.#setGlobal(value);
    this.#owner.replaced('trace', value ?? {});
  }

  #setGlobal(value: unknown): void {
    Object.defineProperty(globalThis, API_KEY, {
      configurable: true,
      enumerable: true,
      writable: true,
      value,
    });
  }

  #setData(part: Part, value: unknown): void {
    Object.defineProperty(this.#api, part, {
      configurable: true,
      enumerable: true,
      writable: true,
      value,
    });
  }
}

/** The object that copies of the API register: it passes everything on to a provider. */
interface ProxyProvider {
  _delegate?: TracerProvider;
  getDelegate(): TracerProvider;
  setDelegate(provider: TracerProvider): void;
}

function isProxy(instance: unknown): instance is ProxyProvider {
  if (typeof instance !== 'object' || instance === null) return false;
  const { getDelegate, setDelegate } = instance as Partial<ProxyProvider>;
  return typeof getDelegate === 'function' && typeof setDelegate === 'function';
}

/**
 * Finds the provider that a copy of the API registers. Version 1.0 sets the provider of its proxy before it registers
 * the proxy. Later versions set it immediately afterwards.
 *
 * @param then called once, now or as soon as the proxy has its provider.
 */
function findRegistered(instance: unknown, then: (provider: unknown) => void): void {
  if (!isProxy(instance)) {
    then(instance);
  } else if (instance._delegate !== undefined) {
    then(instance.getDelegate());
  } else {
    instance.setDelegate = (provider) => {
      Reflect.deleteProperty(instance, 'setDelegate');
      instance.setDelegate(provider);
      then(provider);
    };
  }
}
