import { openName, openText } from '../../../look/report/open-texts.js';
import type { OpenSpan } from '../../../look/report/report-shape.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { durationText } from '../../time-line/duration-text.js';
import { SpanLink } from './span-link.js';

const INDENT = 14;

interface OpenSpansProps {
  count: number;
  requests: number;
  spans: readonly OpenSpan[];
  /** Of the first spans. */
  rows: readonly ReportedRow[];
}

/** `2026-11-23 08:42:10.692 UTC` */
function sinceText(start: string): string {
  return `${start.slice(0, 23).replace('T', ' ')} UTC`;
}

/** What had not ended: each request, and below it what it was waiting for. */
export function OpenSpans({ count, requests, spans, rows }: OpenSpansProps) {
  return (
    <table class="figures">
      <caption>Open at the end: {openText({ count, requests })}, the oldest first</caption>
      <tbody>
        {rows.map((row, at) => {
          const span = spans[at]!;
          const { depth, service, thread, start, age } = span;
          return (
            <tr key={row.row}>
              <td class="number">{durationText(age)}</td>
              <th scope="row" style={{ paddingLeft: `${depth * INDENT}px` }}>
                <SpanLink text={openName(span)} found={row} />
                {service === null || depth > 0 ? '' : ` (${service})`}
              </th>
              <td>{depth === 0 && `thread ${thread}, since ${sinceText(start)}`}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
