import { lostCollections, takeCollections, watchCollections } from '../../core/native-calls.js';
import { Guard } from '../guard.js';
import { warn } from '../warning.js';
import type { Collection } from './pauses.js';
import type { CollectionEntries } from './collection-entries.js';

/** Numbers of a collection as the native core gives them. */
const FIELDS = 3;
const AT_ONCE = 64;

/** Observes the garbage collections of the calling thread. */
export class GarbageCollections {
  readonly #guard = new Guard('garbage collections');
  readonly #take: (collection: Collection) => void;
  readonly #room = new Float64Array(FIELDS * AT_ONCE);
  readonly #entries: CollectionEntries | undefined;
  #warned = false;

  /** @param take is called with each collection, in the order of their beginnings. */
  constructor(take: (collection: Collection) => void) {
    this.#take = take;
    const report = (): void => {
      this.flush();
    };
    if (watchCollections(report)) return;
    const { CollectionEntries } =
      require('./collection-entries.js') as typeof import('./collection-entries.js');
    this.#entries = new CollectionEntries(report);
  }

  /** Reports what has not been reported yet. */
  flush(): void {
    try {
      if (this.#entries === undefined) this.#flushNoted();
      else for (const collection of this.#entries.take()) this.#report(collection);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  close(): void {
    this.#entries?.close();
    this.#guard.on = false;
  }

  #flushNoted(): void {
    const room = this.#room;
    for (let count = takeCollections(room); count > 0; count = takeCollections(room)) {
      for (let at = 0; at < count * FIELDS; at += FIELDS) {
        this.#report({ from: room[at]!, to: room[at + 1]!, kind: room[at + 2]! });
      }
    }
    if (this.#warned) return;
    const lost = lostCollections();
    if (lost === 0) return;
    this.#warned = true;
    warn(`${lost} garbage collections are not traced: the event loop did not turn for too long`);
  }

  #report(collection: Collection): void {
    if (this.#guard.on) this.#take(collection);
  }
}
