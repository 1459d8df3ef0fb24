import { closeSync, constants, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { wrapSystemError } from '../core/files/system-error.js';
import { requestJson } from '../export/otlp/otlp-json.js';
import { groupSpans } from '../export/otlp/span-batches.js';
import type { ShipBatch } from './target.js';
import { counted } from '../core/readable-text.js';
import { sizeOf } from '../core/files/file-kind.js';

/** Bytes of a directory of refused spans at most. */
const MOST_BYTES = 64 << 20;
const PRIVATE_DIRECTORY = 0o700;
const PRIVATE_FILE = 0o600;

/** Keeps spans that a target refuses for good, with the reason: one JSON object a line, `request` being OTLP's JSON. */
export class RefusedSpans {
  readonly #directory: string;
  #bytes = 0;

  /** @throws TracewrightError when the directory cannot be made. */
  constructor(directory: string) {
    this.#directory = directory;
    wrapSystemError('--refused', directory, () => {
      mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      for (const name of readdirSync(directory)) {
        this.#bytes += sizeOf(join(directory, name));
      }
    });
  }

  /** @returns false: there is no room for it, or it cannot be written. */
  add(target: string, reason: string, { spans }: ShipBatch): boolean {
    const time = new Date().toISOString();
    const request = requestJson(groupSpans(spans));
    const facts = JSON.stringify({ time, target, reason }).slice(0, -1);
    const line = Buffer.from(`${facts},"request":${request}}\n`);
    if (this.#bytes + line.length > MOST_BYTES) return false;
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW } = constants;
    try {
      const path = join(this.#directory, `refused-${time.slice(0, 10)}.jsonl`);
      const fd = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, PRIVATE_FILE);
      try {
        writeSync(fd, line);
      } finally {
        closeSync(fd);
      }
    } catch {
      return false;
    }
    this.#bytes += line.length;
    return true;
  }
}

/** Reasons that are said, each once. */
const MOST_REASONS = 20;

/**
 * Keeps what a target refuses for good, and says each reason once.
 *
 * @param label of the target.
 */
export function refusalReport(
  label: string,
  kept: RefusedSpans | undefined,
  say: (text: string) => void,
): (count: number, reason: string, batch: ShipBatch | undefined) => void {
  const reasons = new Set<string>();
  // Without the batch nobody knows which spans they are.
  return (count, reason, batch) => {
    const isKept = batch !== undefined && kept?.add(label, reason, batch) === true;
    if (reasons.has(reason) || reasons.size === MOST_REASONS) return;
    reasons.add(reason);
    const where = isKept ? '; kept in the directory of --refused' : '';
    say(`refuses ${counted(count, 'span')} for good: ${reason}${where}`);
  };
}
