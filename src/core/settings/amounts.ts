/** Milliseconds of each unit of durations. */
const MILLISECONDS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Each is a thousand times the one before, or 1,024 times with an `i`. */
const MULTIPLES = ' kmgt';

/** Bytes: `65536`, `500k`, `128MB`, `2MiB`, `1.5G`; undefined: the text says none. */
export function bytesIn(text: string): number | undefined {
  const [, count, unit = '', binary = ''] =
    /^(\d+(?:\.\d+)?) ?(?:([kmgt])(i?))?b?$/i.exec(text.trim()) ?? [];
  if (count === undefined) return undefined;
  const power = Math.max(MULTIPLES.indexOf(unit.toLowerCase() || ' '), 0);
  return Math.round(Number(count) * (binary === '' ? 1000 : 1024) ** power);
}

/**
 * Milliseconds: `50ms`, `1.5s`, `5m`, `7d`; undefined: the text says none.
 *
 * @param unit of a number without one; undefined: a number must have one.
 */
export function millisecondsIn(text: string, unit?: string): number | undefined {
  const [, count, given = unit] =
    /^(\d+(?:\.\d+)?) ?(ns|us|µs|ms|s|m|min|h|d)?$/.exec(text.trim()) ?? [];
  if (count === undefined || given === undefined) return undefined;
  return Number(count) * MILLISECONDS[given]!;
}
