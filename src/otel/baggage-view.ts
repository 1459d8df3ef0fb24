import type { Baggage as ApiBaggage, BaggageEntry, BaggageEntryMetadata } from '@opentelemetry/api';
import { takeElements } from '../core/taken-elements.js';
import type { Baggage } from '../spans/context/baggage.js';

/** Entries of baggage that are looked at. A request carries 180 at most. */
const MOST_ENTRIES = 65_535;

/** Properties of an entry of baggage, as the API has them. */
function metadataOf(text: string): BaggageEntryMetadata {
  return { toString: () => text } as BaggageEntryMetadata;
}

/** Baggage as the API shows it. It does not change. */
export class BaggageView implements ApiBaggage {
  readonly #entries: ReadonlyMap<string, BaggageEntry>;

  constructor(entries: ReadonlyMap<string, BaggageEntry>) {
    this.#entries = entries;
  }

  getEntry(key: string): BaggageEntry | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : { ...entry };
  }

  getAllEntries(): [string, BaggageEntry][] {
    return [...this.#entries];
  }

  setEntry(key: string, entry: BaggageEntry): ApiBaggage {
    return new BaggageView(new Map(this.#entries).set(key, entry));
  }

  removeEntry(key: string): ApiBaggage {
    return this.removeEntries(key);
  }

  removeEntries(...keys: string[]): ApiBaggage {
    const entries = new Map(this.#entries);
    for (const key of keys) entries.delete(key);
    return new BaggageView(entries);
  }

  clear(): ApiBaggage {
    return new BaggageView(new Map());
  }
}

/** An entry with its properties, as text. */
export function entryOf(value: string, properties: string): BaggageEntry {
  return properties === '' ? { value } : { value, metadata: metadataOf(properties) };
}

/** The entries of the API's baggage; none of what is no baggage. */
export function entriesOf(baggage: unknown): [string, BaggageEntry][] {
  try {
    const entries: unknown = (baggage as ApiBaggage).getAllEntries();
    return (
      takeElements('baggage', entries, MOST_ENTRIES, 'a list') as [string, BaggageEntry][]
    ).filter(([name, entry]) => typeof name === 'string' && typeof entry.value === 'string');
  } catch {
    return [];
  }
}

/** Names and values of the API's baggage; undefined if there are none. */
export function plainBaggage(baggage: unknown): Baggage | undefined {
  const entries = entriesOf(baggage);
  if (entries.length === 0) return undefined;
  const plain = Object.create(null) as Record<string, string>;
  for (const [name, { value }] of entries) plain[name] = value;
  return Object.freeze(plain);
}

/** Baggage for the API. Entries that `before` has with the same value keep their properties. */
export function viewOf(baggage: Baggage, before: unknown): ApiBaggage {
  const known = new Map(before === undefined ? [] : entriesOf(before));
  const entries = new Map<string, BaggageEntry>();
  for (const [name, value] of Object.entries(baggage)) {
    const old = known.get(name);
    entries.set(name, old?.value === value ? old : { value });
  }
  return new BaggageView(entries);
}
