import { outOfRange, wrongType } from '../../core/errors.js';
import { callNamed } from '../calls.js';
import type { Call } from '../calls.js';
import { saysSize } from '../datatype-sizes.js';
import type { DatatypeSizes } from '../datatype-sizes.js';
import { hasIndices, wrongIndexOf } from '../request-indices.js';
import { plainEncoder, takeGiven } from './plain-encoder.js';
import { compiledEncoder } from './compiled-encoder.js';
import type { CallEncoder } from './plain-encoder.js';
import type { CallStream } from './call-stream.js';
import { isCallName } from './configuration.js';
import type { Configuration, MpiCallName, Setting } from './configuration.js';
import { withStatuses } from './record-head.js';

/**
 * The label of a call of MPI.
 *
 * @throws TracewrightError for a name that the format does not know.
 */
export function callLabel(name: unknown): number {
  if (!isCallName(name)) {
    throw typeof name === 'string'
      ? outOfRange('name', name, 'an MPI call that the format knows')
      : wrongType('name', name, 'the name of an MPI call');
  }
  return callNamed(name)!.label;
}

const NONE = Symbol('no call');

/** @throws TracewrightError for an index that is none of a request of the call. */
function checkIndices(name: string, values: object): void {
  const wrong = wrongIndexOf(name, values);
  if (wrong !== undefined) throw outOfRange(`${name} ${wrong.field}`, wrong.value, wrong.limit);
}

/** The functions that record the calls of a rank, made when a call is first recorded. */
export class CallEncoders {
  readonly #stream: CallStream;
  readonly #sizes: DatatypeSizes;
  readonly #checksIndices: boolean;
  #configuration: Configuration;
  #current = new Map<string, CallEncoder>();
  /** The call that was recorded last: the same one often follows, and needs no search. */
  #latestName: MpiCallName | symbol = NONE;
  #latest: CallEncoder = () => undefined;
  /** Those that store calls, while `#current` only counts them. */
  #storing: Map<string, CallEncoder> | undefined;

  constructor(
    stream: CallStream,
    configuration: Configuration,
    sizes: DatatypeSizes,
    checksIndices: boolean,
  ) {
    this.#stream = stream;
    this.#configuration = configuration;
    this.#sizes = sizes;
    this.#checksIndices = checksIndices;
  }

  /** The settings for further calls. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  /** Says whether calls of a name are stored. */
  setCall(name: MpiCallName, setting: Setting): void {
    const calls = new Map(this.#configuration.calls).set(name, setting);
    this.#configuration = { ...this.#configuration, calls };
    (this.#storing ?? this.#current).delete(name);
    this.#latestName = NONE;
  }

  /** Says whether statuses are stored. */
  setStatuses(statuses: Setting): void {
    this.#configuration = { ...this.#configuration, statuses };
    this.#stream.head = withStatuses(this.#stream.head, statuses);
    (this.#storing ?? this.#current).clear();
    this.#latestName = NONE;
  }

  /**
   * Checks the arguments of a call that is recorded later.
   *
   * @throws TracewrightError that names the call, the field and its limit.
   */
  check(call: Call, args: unknown): void {
    const values = takeGiven(call, args);
    if (this.#checksIndices) checkIndices(call.name, values);
  }

  /** @throws TracewrightError for a name that the format does not know. */
  of(name: MpiCallName): CallEncoder {
    return name === this.#latestName ? this.#latest : this.#find(name);
  }

  #find(name: MpiCallName): CallEncoder {
    const encoder = this.#current.get(name);
    if (encoder === undefined) return this.#create(name);
    this.#latestName = name;
    this.#latest = encoder;
    return encoder;
  }

  /** Whether calls are stored, as far as the configuration says so, or only counted as ignored. */
  get store(): boolean {
    return this.#storing === undefined;
  }

  set store(on: boolean) {
    if (on === this.store) return;
    this.#latestName = NONE;
    if (on) {
      this.#current = this.#storing!;
      this.#storing = undefined;
    } else {
      this.#storing = this.#current;
      this.#current = new Map();
    }
  }

  /**
   * The first call of a kind is recorded by the plain encoder, and the compiled one is made after it:
   * before it, compiling would seem to be a part of the call.
   */
  #create(name: MpiCallName): CallEncoder {
    callLabel(name);
    const call = callNamed(name)!;
    const { calls, otherCalls } = this.#configuration;
    const setting = this.store ? (calls.get(name) ?? otherCalls) : 'disable';
    const encoders = this.#current;
    if (saysSize(name)) {
      // Such calls are rare: they need no compiled encoder.
      const learning = plainEncoder(this.#stream, call, setting, (values) => {
        this.#sizes.learn(name, values);
      });
      encoders.set(name, learning);
      return learning;
    }
    if (this.#checksIndices && hasIndices(name)) {
      const checking = plainEncoder(this.#stream, call, setting, (values) => {
        checkIndices(name, values);
      });
      encoders.set(name, checking);
      return checking;
    }
    const once = plainEncoder(this.#stream, call, setting);
    const first: CallEncoder = (args, thread) => {
      once(args, thread);
      // A getter among the arguments may have changed what is stored.
      if (encoders.get(name) !== first) return;
      encoders.set(name, compiledEncoder(this.#stream, call, setting) ?? once);
      this.#latestName = NONE;
    };
    encoders.set(name, first);
    return first;
  }
}
