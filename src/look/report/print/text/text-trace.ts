import { terminalText } from '../../../../core/readable-text.js';
import { wellFormedJson } from '../../../../core/json.js';
import type { Report } from '../../shape/report-shape.js';
import { failedText } from '../cause-texts.js';
import { wrapped } from './display-width.js';
import { traceLines } from './text-sections.js';
import type { TextStyle } from './text-style.js';

/** The lines of the one trace that a report is about: its tree, and its errors. */
export function* textTrace(
  { slowest, errors }: Pick<Report, 'slowest' | 'errors'>,
  style: TextStyle,
): Generator<string, void> {
  yield* traceLines(slowest, style, true);
  for (const error of errors.types) {
    for (const line of wrapped(failedText(error), style.width)) yield style.paint('bad', line);
  }
}

/** The trace as JSON in one line; what a terminal would act on is escaped. */
export function jsonTrace({ slowest }: Pick<Report, 'slowest'>): string {
  return terminalText(wellFormedJson(slowest[0] ?? null));
}
