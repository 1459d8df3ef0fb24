import { terminalText } from '../../core/terminal-text.js';
import { wellFormedJson } from '../../core/json.js';
import type { Report } from './report-shape.js';

/** A report as JSON in one line; what a terminal would act on is escaped. */
export function jsonReport(report: Report): string {
  return terminalText(wellFormedJson(report));
}
