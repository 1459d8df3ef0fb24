import type { LookIndex } from '../index/look-index.js';
import { inTurns } from '../index/turns.js';
import { errorTypes } from './errors/error-types.js';
import { RowSelection } from './measures/selection.js';
import type { Report } from './shape/report-shape.js';
import { oneTrace } from './trees/one-trace.js';

/** The trace with an id that the index has, and why its spans failed. */
export async function traceReport(
  index: LookIndex,
  traceId: string,
): Promise<Pick<Report, 'slowest' | 'errors'>> {
  const { trace } = await oneTrace(index, index.rowsOfTrace(traceId)[0]!);
  return { slowest: [trace], errors: await errorsOfTrace(index, traceId) };
}

/** Why spans of a trace failed. */
export async function errorsOfTrace(index: LookIndex, traceId: string): Promise<Report['errors']> {
  const { errors } = await inTurns(
    errorTypes(await RowSelection.of(index, { traceId }), undefined),
  );
  return errors;
}
