const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  min: 60e9,
  h: 3600e9,
  d: 86_400e9,
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
 * Nanoseconds of a duration: `50ms`, `1.5s`, `5m`, `7d`; undefined: the text says none.
 *
 * @param unit of a number without one; undefined: a number must have one.
 */
export function nanosecondsIn(text: string, unit?: string): number | undefined {
  const [, count, given = unit] =
    /^(\d+(?:\.\d+)?) ?(ns|us|µs|ms|s|m|min|h|d)?$/.exec(text.trim()) ?? [];
  if (count === undefined || given === undefined) return undefined;
  return Math.round(Number(count) * NANOSECONDS[given]!);
}

/** The same in milliseconds. */
export function millisecondsIn(text: string, unit?: string): number | undefined {
  const nanoseconds = nanosecondsIn(text, unit);
  return nanoseconds === undefined ? undefined : nanoseconds / 1e6;
}
