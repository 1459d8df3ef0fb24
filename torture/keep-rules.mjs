/** What torture/keep-requests.mjs keeps. */
export const SLOW_MS = 5000;
export const KEEP = { slowerThan: SLOW_MS, errors: true, ratio: 0.01, limit: false };
export const ROUTES = 8;

/** The bucket of a duration in ns, as docs/formats/records.md describes it. */
export function bucketOf(duration) {
  if (duration < 1) return 0;
  const octave = Math.floor(Math.log2(duration));
  return 1 + 32 * octave + Math.floor((duration / 2 ** octave - 1) * 32);
}
