import { fileURLToPath } from 'node:url';
import { bytesIn, millisecondsIn } from '../core/settings/amounts.js';
import { wrongSetting } from './errors.js';

/** Where files of Parquet go, and when one is complete. */
export interface ParquetSettings {
  directory: string;
  mostBytes: number;
  mostMs: number;
}

const MOST_BYTES = 128e6;
const MOST_MS = 300_000;

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
    // 5m is a time, and 5mb are bytes.
    const bytes = /b$/i.test(part.trim()) ? bytesIn(part) || undefined : undefined;
    const ms = millisecondsIn(part) || undefined;
    if (bytes !== undefined) settings.mostBytes = bytes;
    else if (ms !== undefined) settings.mostMs = ms;
    else throw wrongSetting('--roll', roll, 'bytes, a time, or both, such as 128MB,5m');
  }
  return settings;
}
