import type { ThreadFigures } from '../../../look/report/report-shape.js';
import { fileName } from '../../data/file-name.js';
import { countText, durationText, shareText } from '../../time-line/duration-text.js';
import { ColumnHeads } from '../column-heads.js';

const MOST_THREADS = 50;

/** How busy each thread was. */
export function ThreadTable({ threads }: { threads: readonly ThreadFigures[] }) {
  return (
    <div>
      <table class="figures">
        <caption>Threads</caption>
        <ColumnHeads
          words={['service', 'thread']}
          numbers={['records', 'active', 'event loop', 'blocked', 'in GC']}
        />
        <tbody>
          {threads.slice(0, MOST_THREADS).map((each) => {
            const { path, service, pid, thread, kind, utilisation, stalls, collections } = each;
            return (
              <tr key={`${path} ${thread} ${kind}`}>
                <th scope="row">{service ?? fileName(path)}</th>
                <td class="whole">
                  {thread}
                  {pid === null ? '' : ` of process ${pid}`}
                </td>
                <td class="number">{countText(each.spans)}</td>
                <td class="number">{shareText(each.share)}</td>
                <td class="number">{utilisation === null ? '–' : shareText(utilisation)}</td>
                <td class="number">{stalls > 0 ? durationText(stalls) : '–'}</td>
                <td class="number">{collections > 0 ? durationText(collections) : '–'}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {threads.length > MOST_THREADS && <p>{countText(threads.length - MOST_THREADS)} more.</p>}
    </div>
  );
}
