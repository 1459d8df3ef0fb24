import type { MpiRun } from '../../../look/report/report-shape.js';
import { mpiTable, mpiTitle } from '../../../look/report/tables/mpi-table.js';
import { bytesText, countText } from '../../../look/report/units.js';
import { FiguresTable } from '../figures-table.js';

const MOST_PAIRS = 50;

/** Calls of MPI, and what ranks sent to each other. */
export function MpiTables({ runs }: { runs: readonly MpiRun[] }) {
  return (
    <>
      {runs.map((run) => (
        <div key={run.path}>
          <FiguresTable caption={mpiTitle(run)} table={mpiTable(run)} />
          {run.traffic.length > 0 && (
            <table class="figures">
              <caption>Messages, the first {MOST_PAIRS} pairs of ranks</caption>
              <tbody>
                {run.traffic.slice(0, MOST_PAIRS).map(({ from, to, messages, bytes }) => (
                  <tr key={`${from} ${to}`}>
                    <th scope="row">
                      rank {from} → {to}
                    </th>
                    <td class="number">{countText(messages)} messages</td>
                    <td class="number">{bytes === null ? '' : bytesText(bytes)}</td>
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
