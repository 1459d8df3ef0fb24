import { openText } from '../../../look/report/open-texts.js';
import type { OpenSpan } from '../../../look/report/report-shape.js';
import { nameWithDetail } from '../../../look/report/request-name.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { momentText } from '../../data/moment-text.js';
import { useApp } from '../../state/app.js';
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

/** What had not ended: each request, and below it what it was waiting for. */
export function OpenSpans({ count, requests, spans, rows }: OpenSpansProps) {
  const { recording } = useApp();
  return (
    <table class="figures">
      <caption>Open at the end: {openText({ count, requests })}, the oldest first</caption>
      <tbody>
        {rows.map((row, at) => {
          const span = spans[at]!;
          const { depth, service, thread, age } = span;
          return (
            <tr key={row.row}>
              <td class="number">{durationText(age)}</td>
              <th scope="row" style={{ paddingLeft: `${depth * INDENT}px` }}>
                <SpanLink text={nameWithDetail(span)} found={row} />
                {service === null || depth > 0 ? '' : ` (${service})`}
              </th>
              <td>
                {depth === 0 &&
                  `thread ${thread}, since ${momentText(recording.answer, row.start)}`}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
