import { bytesText, durationText, isoTime, timeText } from '../../look/report/measures/units.js';
import type { RecordingAnswer } from '../../look/wire/answers.js';

const grouped = new Intl.NumberFormat('en-US');

/** A value of a curve: `173 ms`, `45 %`, `3`. */
export function valueText(value: number, unit: string): string {
  if (unit === 'ns') return durationText(value);
  if (unit === 'bytes') return bytesText(value);
  if (unit === 'ratio') return `${Number((100 * value).toFixed(1))} %`;
  const one = value === 1 ? unit.replace(/(?<=\w\w)s$/, '') : unit;
  return `${grouped.format(value)} ${one}`.trimEnd();
}

/** Steps of the axis: 1, 2 and 5 of the units of time. @returns ns; the first at least `least`. */
export function axisStep(least: number): number {
  if (least <= 1e9) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-3)));
    for (const factor of [1, 2, 5, 10]) if (factor * power >= least) return factor * power;
  }
  for (const seconds of [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]) {
    if (seconds * 1e9 >= least) return seconds * 1e9;
  }
  return Math.ceil(least / 3600e9) * 3600e9;
}

/** A time on an axis with that step: enough digits to tell the ticks apart. */
export function tickText(time: number, step: number): string {
  const span = Math.max(Math.abs(time), step);
  const [unit, name] =
    span >= 1e9 ? [1e9, 's'] : span >= 1e6 ? [1e6, 'ms'] : span >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  if (unit === 1e9 && span >= 60e9 && step >= 1e9) return clockText(Math.round(time / 1e9));
  return `${(time / unit).toFixed(Math.min(digits, 9))} ${name}`;
}

function clockText(seconds: number): string {
  const sign = seconds < 0 ? '-' : '';
  const size = Math.abs(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(size / 3600), Math.floor(size / 60) % 60];
  const rest = `${two(minutes)}:${two(size % 60)}`;
  return hours > 0 ? `${sign}${hours}:${rest}` : `${sign}${rest}`;
}

/** The last part of a path of any platform. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1)!;
}

/** `2026-11-23 08:42:10.692 UTC`; undefined: the traces do not say when they were recorded. */
export function utcText({ epoch }: RecordingAnswer, ns: number): string | undefined {
  return epoch === '0' ? undefined : timeText(isoTime(BigInt(epoch), ns));
}
