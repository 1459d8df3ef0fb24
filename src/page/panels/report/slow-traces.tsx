import type { Report } from '../../../look/report/report-shape.js';
import type { SlowTrace } from '../../../look/report/trace-shape.js';
import { nameWithPath } from '../../../look/report/request-name.js';
import { openTable } from '../../../look/report/tables/tree-tables.js';
import { durationText } from '../../../look/report/units.js';
import { waitShares } from '../../../look/report/wait-texts.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { useApp } from '../../state/app.js';
import { momentText } from '../../time-line/axis-text.js';
import { FiguresTable } from '../figures-table.js';

interface SlowTracesProps {
  slowest: readonly SlowTrace[];
  rows: readonly (ReportedRow | null)[];
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
                <SpanLink text={nameWithPath(trace)} found={rows[i] ?? null} />
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

/** What had not ended: each request, and below it what it was waiting for. */
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
        return title === 'span' ? <SpanLink text={text} found={found} /> : undefined;
      }}
    />
  );
}

/** Opens the trace of a span, which then fills the time line. */
function SpanLink({ text, found }: { text: string; found: ReportedRow | null }) {
  const app = useApp();
  if (found === null) return <>{text}</>;
  return (
    <button
      type="button"
      class="link"
      title="Show its trace"
      onClick={() => {
        void app.showRow(found.row, found.start, true);
        app.view.set({ panel: 'trace' });
      }}
    >
      {text}
    </button>
  );
}
