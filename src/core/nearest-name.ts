/** A name that differs in more than a third of its characters is another one. */
const MOST_WRONG = 1 / 3;

/** How many characters are to be changed, added, left out, or swapped with their neighbours. */
function distance(a: string, b: string): number {
  let [older, before] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      row[j] = Math.min(before[j - 1]! + (isSame ? 0 : 1), before[j]! + 1, row[j - 1]! + 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, older[j - 2]! + 1);
    }
    [older, before] = [before, row];
  }
  return before[b.length]!;
}

/** The name that is known and differs least from another; undefined: none is near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  // Longer texts are no names that somebody has typed.
  if (name.length > 100) return undefined;
  const limit = Math.max(1, Math.floor(name.length * MOST_WRONG));
  let [nearest, least] = [undefined as string | undefined, limit + 1];
  for (const each of known) {
    if (Math.abs(each.length - name.length) >= least) continue;
    const wrong = distance(name.toLowerCase(), each.toLowerCase());
    if (wrong < least) [nearest, least] = [each, wrong];
  }
  return nearest;
}

/**
 * `; did you mean "--slowest"?`; empty: no name that is known is near.
 *
 * @param prefix of each name, as it is written.
 */
export function didYouMean(name: string, known: Iterable<string>, prefix = ''): string {
  const near = nearestName(name, known);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(prefix + near)}?`;
}
