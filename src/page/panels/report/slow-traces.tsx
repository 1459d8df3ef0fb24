import type { SlowTrace } from '../../../look/report/report-shape.js';
import { nameWithPath } from '../../../look/report/request-name.js';
import { waitShares } from '../../../look/report/wait-texts.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { durationText } from '../../../look/report/units.js';
import { SpanLink } from './span-link.js';

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
        {slowest.map((trace, place) => {
          const { traceId, name, service, duration, stalls, collections } = trace;
          return (
            <tr key={`${traceId ?? ''} ${name} ${duration}`}>
              <td class="number">{durationText(duration)}</td>
              <th scope="row">
                <SpanLink text={nameWithPath(trace)} found={rows[place] ?? null} />
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
