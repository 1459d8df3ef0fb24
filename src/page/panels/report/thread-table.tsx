import type { ThreadFigures } from '../../../look/report/report-shape.js';
import { countText, durationText } from '../../time-line/duration-text.js';

const MOST_THREADS = 50;

const shareText = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** How busy each thread was. */
export function ThreadTable({ threads }: { threads: readonly ThreadFigures[] }) {
  return (
    <div>
      <table class="figures">
        <caption>Threads</caption>
        <thead>
          <tr>
            <th scope="col">service</th>
            <th scope="col">thread</th>
            {['records', 'busy', 'event loop', 'blocked', 'in GC'].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {threads.slice(0, MOST_THREADS).map((each) => {
            const { path, service, pid, thread, kind, utilisation, stalls, collections } = each;
            return (
              <tr key={`${path} ${thread} ${kind}`}>
                <th scope="row">{service ?? path.split(/[\\/]/).at(-1)}</th>
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
