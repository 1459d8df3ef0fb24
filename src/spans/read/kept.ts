import { thresholdMember } from '../context/trace-state-entries.js';
import {
  KEEP_REASON_MASK,
  KEEP_REASONS,
  KEEP_RULES,
  KEEP_WEIGHT_SHIFT,
  KEEP_WEIGHT_UNIT,
} from '../layout.js';
import type { Kept, RecordedResource } from '../span-record.js';

const RATIO = /(?:^|,)ratio:([\d.e-]+)(?=,|$)/;
const MOST = 2 ** 56;

/** @param bits the highest 16 bits of a span's flags. @returns undefined: its thread records every trace. */
export function keptOf(bits: number, resource: RecordedResource | undefined): Kept | undefined {
  const reason = KEEP_REASONS[bits & KEEP_REASON_MASK];
  if (reason === undefined) return undefined;
  const weight = 2 ** ((bits >>> KEEP_WEIGHT_SHIFT) / KEEP_WEIGHT_UNIT);
  if (reason !== 'ratio') return { reason, weight };
  // The resource says it exactly.
  const ratio = Number(RATIO.exec(String(resource?.attributes[KEEP_RULES] ?? ''))?.[1]);
  return { reason, weight: ratio > 0 ? 1 / ratio : weight };
}

/** The weight as OpenTelemetry's `tracestate` says it. */
export function weightState({ weight }: Kept): string {
  return thresholdMember(BigInt(Math.round((1 - 1 / weight) * MOST)));
}
