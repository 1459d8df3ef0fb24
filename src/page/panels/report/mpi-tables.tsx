import type { MpiRun } from '../../../look/report/report-shape.js';
import { fileName } from '../../data/file-name.js';
import { countText, durationText } from '../../time-line/duration-text.js';
import { ColumnHeads } from '../column-heads.js';

const MOST_LINES = 50;

const bytesText = (bytes: number | null): string => (bytes === null ? '–' : countText(bytes));

/** Calls of MPI, and what ranks sent to each other. */
export function MpiTables({ runs }: { runs: readonly MpiRun[] }) {
  return (
    <>
      {runs.map(({ path, ranks, calls, traffic }) => (
        <div key={path}>
          <table class="figures">
            <caption>
              MPI calls of {countText(ranks)} ranks, {fileName(path)}
            </caption>
            <ColumnHeads
              words={['call']}
              numbers={['count', 'p50', 'p95', 'max', 'in all', 'bytes']}
            />
            <tbody>
              {calls.slice(0, MOST_LINES).map(({ name, count, p50, p95, max, total, bytes }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="number">{countText(count)}</td>
                  {[p50, p95, max, total].map((ns, at) => (
                    <td key={at} class="number">
                      {durationText(ns)}
                    </td>
                  ))}
                  <td class="number">{bytesText(bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {traffic.length > 0 && (
            <table class="figures">
              <caption>Messages, the first {MOST_LINES} pairs of ranks</caption>
              <tbody>
                {traffic.slice(0, MOST_LINES).map(({ from, to, messages, bytes }) => (
                  <tr key={`${from} ${to}`}>
                    <th scope="row">
                      rank {from} → {to}
                    </th>
                    <td class="number">{countText(messages)} messages</td>
                    <td class="number">{bytesText(bytes)} bytes</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      ))}
    </>
  );
}
