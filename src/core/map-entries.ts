/** The two functions of a map that are used here. */
interface Entries<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The value of a key. One that the map lacks is made, and kept in it. */
export function entryOf<Key, Value>(map: Entries<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Adds a value to the list of a key. */
export function addToList<Key, Value>(map: Entries<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
