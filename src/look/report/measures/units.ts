/** Three digits, without zeros at the end: `1.23`, `47.6`, `154`. */
export function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** An estimate from some of many: two figures, as more would be chance. */
export function roughly(value: number): number {
  const rounded = Number(value.toPrecision(2));
  // Nearly all is not all.
  return rounded === 1 && value < 0.9995 ? 0.99 : rounded;
}

const STEPS = [
  { unit: 'ns', ns: 1 },
  { unit: 'µs', ns: 1e3 },
  { unit: 'ms', ns: 1e6 },
  { unit: 's', ns: 1e9 },
] as const;
const MINUTE = 60e9;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365.25 * DAY;
/** Up to here a duration is in seconds. */
const MAX_SECONDS = 2 * MINUTE;

function twoUnits(ns: number, large: number, small: number, units: readonly string[]): string {
  const all = Math.round(ns / small);
  const per = Math.round(large / small);
  const rest = String(all % per).padStart(2, '0');
  return `${Math.floor(all / per)} ${units[0]!} ${rest} ${units[1]!}`;
}

/** A duration in nanoseconds for a person: `154 ms`, `3 min 12 s`, `−2 µs`. */
export function durationText(ns: number): string {
  if (ns < 0) return `−${durationText(-ns)}`;
  if (ns >= YEAR) return `${digits(ns / YEAR)} years`;
  if (ns >= 2 * DAY) return `${digits(ns / DAY)} days`;
  // What would be rounded to 60 min is an hour.
  if (ns >= HOUR - 0.5e9) return twoUnits(ns, HOUR, MINUTE, ['h', 'min']);
  if (ns >= MAX_SECONDS) return twoUnits(ns, MINUTE, 1e9, ['min', 's']);
  let step: (typeof STEPS)[number] = STEPS[0];
  // What would be rounded to 1000 of a unit is 1 of the next.
  for (const next of STEPS) if (ns >= 0.9995 * next.ns) step = next;
  return `${digits(ns / step.ns)} ${step.unit}`;
}

/** `clock +1.20 ms ± 80 µs`; nothing where no clock was compared. */
export function clockText(offset: number, error: number | null): string {
  if (error === null || (offset === 0 && error === 0)) return '';
  const sign = offset < 0 ? '−' : '+';
  return `clock ${sign}${durationText(Math.abs(offset))} ± ${durationText(error)}`;
}

/** `1,234,567` */
export function countText(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Per second: `0.25/s`, `12.3/s`, `1,234/s`. */
export function rateText(rate: number): string {
  if (rate >= 100) return `${countText(rate)}/s`;
  return rate > 0 && rate < 0.01 ? '< 0.01/s' : `${digits(rate)}/s`;
}

/** From 0 to 1: `0 %`, `< 0.1 %`, `12.3 %`. */
export function shareText(share: number): string {
  const percent = 100 * share;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent >= 99.95 ? '100' : String(Number(percent.toFixed(1)))} %`;
}

const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

export function bytesText(bytes: number): string {
  let step = 0;
  let value = bytes;
  while (value >= 1023.5 && step < BYTES.length - 1) {
    value /= 1024;
    step++;
  }
  return `${digits(value)} ${BYTES[step]!}`;
}

const DAY_MS = 86_400_000;

/** `2026-11-22 11:07:43.113 UTC` of an ISO time; `3 d 11:07:43.113 of its clock` in 1970: it counts from elsewhere. */
export function timeText(iso: string): string {
  const [, day, time, fraction] = /^(.*)T([\d:]+)\.(\d{3})\d*Z$/.exec(iso) ?? [];
  if (day === undefined) return iso;
  if (!day.startsWith('1970-')) return `${day} ${time!}.${fraction!} UTC`;
  const days = Date.parse(day) / DAY_MS;
  return `${days === 0 ? '' : `${days} d `}${time!}.${fraction!} of its clock`;
}

/** The greatest time that a Date has, in milliseconds. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/**
 * An ISO time with nanoseconds: `2026-11-22T11:07:43.113456789Z`. A time beyond what a Date has, as
 * damaged traces do, is that of its limit.
 *
 * @param epoch in ns since 1970. @param offset ns added to it.
 */
export function isoTime(epoch: bigint, offset: number): string {
  const time = epoch + BigInt(Math.round(offset));
  const nanoseconds = ((time % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const milliseconds = Number((time - nanoseconds) / 1_000_000n);
  const limited = Math.min(Math.max(milliseconds, -MAX_DATE_MS), MAX_DATE_MS);
  const text = new Date(limited).toISOString();
  return `${text.slice(0, -1)}${String(nanoseconds).padStart(6, '0')}Z`;
}
