import type { RecordingAnswer } from '../../look/wire/answers.js';
import { tickText } from '../time-line/axis-text.js';

const MS = 1e6;
/** The greatest time that a Date has, in ms. */
const MOST_MS = 8.64e15;

/** `2026-11-23 08:42:10.692 UTC`; undefined: the traces do not say when they were recorded. */
export function utcText({ epoch }: RecordingAnswer, ns: number): string | undefined {
  const at = Number(BigInt(epoch) / 1_000_000n) + ns / MS;
  if (epoch === '0' || Math.abs(at) > MOST_MS) return undefined;
  return `${new Date(at).toISOString().slice(0, 23).replace('T', ' ')} UTC`;
}

/** As the time line counts, and as logs do: `1.204 s, 08:42:10.692 UTC`. */
export function momentText(recording: RecordingAnswer | undefined, ns: number): string {
  const since = tickText(ns, MS);
  const utc = recording && utcText(recording, ns);
  return utc === undefined ? since : `${since}, ${utc.slice(11)}`;
}
