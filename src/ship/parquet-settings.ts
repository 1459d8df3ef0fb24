import { fileURLToPath } from 'node:url';
import { wrongSetting } from './errors.js';

/** Where files of Parquet go, and when one is complete. */
export interface ParquetSettings {
  directory: string;
  mostBytes: number;
  mostMs: number;
}

const MOST_BYTES = 128e6;
const MOST_MS = 300_000;
const BYTE_UNITS: Readonly<Record<string, number>> = { kb: 1e3, mb: 1e6, gb: 1e9 };
const TIME_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/**
 * @param roll bytes, a time, or both: `64MB,1m`.
 * @throws TracewrightError for a setting that is wrong.
 */
export function parquetSettings(url: string, roll: string | undefined): ParquetSettings {
  let directory: string;
  try {
    directory = fileURLToPath(url);
  } catch {
    throw wrongSetting('--to', url, 'the URL of a directory, such as file:///var/lib/spans');
  }
  const settings = { directory, mostBytes: MOST_BYTES, mostMs: MOST_MS };
  for (const part of roll?.split(',') ?? []) {
    const [, count, unit] = /^(\d+)([kmg]b|[smh])$/i.exec(part.trim()) ?? [];
    const name = unit?.toLowerCase() ?? '';
    const bytes = Number(count) * (BYTE_UNITS[name] ?? 0);
    const ms = Number(count) * (TIME_UNITS[name] ?? 0);
    if (bytes > 0) settings.mostBytes = bytes;
    else if (ms > 0) settings.mostMs = ms;
    else throw wrongSetting('--roll', roll, 'bytes, a time, or both, such as 128MB,5m');
  }
  return settings;
}
