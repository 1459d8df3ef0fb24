const MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Each is a thousand times the one before. */
const MULTIPLES = ['', 'k', 'm', 'g', 't'];

/** Bytes of an option: `500k`, `10M`, `128MB`; undefined: the text says none, or 0. */
export function bytesIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([kmgt]?)b?$/i.exec(text) ?? [];
  return Number(count) > 0
    ? Number(count) * 1000 ** MULTIPLES.indexOf(unit.toLowerCase())
    : undefined;
}

/** Milliseconds of an option: `30s`, `5m`, `1h`, `7d`; undefined: the text says none, or 0. */
export function millisecondsIn(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([smhd])$/i.exec(text) ?? [];
  return Number(count) > 0 ? Number(count) * MS[unit.toLowerCase()]! : undefined;
}
