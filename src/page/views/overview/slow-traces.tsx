import type { Report } from '../../../look/report/shape/report-shape.js';
import type { SlowTrace } from '../../../look/report/shape/trace-shape.js';
import { nameWithPath } from '../../../look/report/names/request-name.js';
import { openTable } from '../../../look/report/print/tables/tree-tables.js';
import { durationText } from '../../../look/report/measures/units.js';
import { waitShares } from '../../../look/report/print/report-texts.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { useApp } from '../../state/app.js';
import { momentText } from '../../time-line/axis-text.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { RowLink } from '../../shell/links.js';

const TO_TRACE = 'Show its trace';

interface SlowTracesProps {
  slowest: readonly SlowTrace[];
  rows: readonly ReportedRow[];
}

/** The slowest traces, and why. */
export function SlowTraces({ slowest, rows }: SlowTracesProps) {
  return (
    <table class="figures">
      <caption>The slowest traces, and what they waited for</caption>
      <tbody>
        {slowest.map((trace, i) => {
          const { traceId, name, service, duration, stalls, collections } = trace;
          return (
            <tr key={`${traceId ?? ''} ${name} ${duration}`}>
              <td class="number">{durationText(duration)}</td>
              <th scope="row">
                <RowLink text={nameWithPath(trace)} title={TO_TRACE} found={rows[i]} view="trace" />
                {service === null ? '' : ` (${service})`}
              </th>
              <td>
                {waitShares(trace)}
                {stalls > 0 && `; the event loop was blocked for ${durationText(stalls)}`}
                {collections > 0 && `; garbage collections took ${durationText(collections)}`}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface OpenSpansProps {
  report: Report;
  /** Of the first spans. */
  rows: readonly ReportedRow[];
}

/** Lists open spans: each request, and below it what it was waiting for. */
export function OpenSpans({ report, rows }: OpenSpansProps) {
  const { recording } = useApp();
  const table = openTable(report);
  return (
    <FiguresTable
      caption={`${table.title}, the oldest first`}
      table={table}
      cell={(_, { title }, text, at) => {
        const found = rows[at];
        if (found === undefined) return undefined;
        if (title === 'since') return momentText(recording.answer, found.start);
        if (title !== 'span') return undefined;
        return <RowLink text={text} title={TO_TRACE} found={found} view="trace" />;
      }}
    />
  );
}
