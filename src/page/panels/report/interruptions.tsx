import { causeText, countsText, placeText } from '../../../look/report/interruption-texts.js';
import type { LongStall, Report } from '../../../look/report/report-shape.js';
import type { ReportAnswer, ReportedRow } from '../../../look/wire/panel-answers.js';
import { choiceOf } from '../../data/choice.js';
import { momentText } from '../../data/moment-text.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../time-line/duration-text.js';
import { ColumnHeads } from '../column-heads.js';

/** Groups whose slow spans spent less than this share in interruptions are not listed. */
const LEAST_SHARE = 0.1;
/** Stalls that are listed. */
const MOST_STALLS = 5;
/** Threads that are listed. */
const MOST_THREADS = 20;

interface InterruptionsProps {
  interruptions: Report['interruptions'];
  /** The longest of each thread, and the longest stalls. */
  rows: Pick<ReportAnswer, 'threads' | 'stalls'>;
}

/** Stalls of event loops and garbage collections, and which spans they made slow. */
export function Interruptions({ interruptions, rows }: InterruptionsProps) {
  const { view } = useApp();
  const isSearch = useStore(view, (state) => choiceOf(state).where !== '');
  const { threads, longest, slow } = interruptions;
  const slowed = slow.filter(({ either, time }) => either >= LEAST_SHARE * time);
  if (threads.length === 0) return null;
  return (
    <div>
      <table class="figures">
        <caption>
          What kept threads from working{isSearch && ': all of them, whatever the search'}
        </caption>
        <ColumnHeads
          words={['what', 'service', 'thread']}
          numbers={['count', 'in all', 'at most']}
        />
        <tbody>
          {threads.slice(0, MOST_THREADS).map((each, at) => {
            const { name, service, pid, thread, count, total, max } = each;
            return (
              <tr key={`${name} ${service ?? ''} ${pid ?? ''} ${thread}`}>
                <th scope="row">
                  <RowLink text={name} title="Show the longest" found={rows.threads[at]} />
                </th>
                <td>{service ?? '–'}</td>
                <td class="whole">
                  {thread}
                  {pid === null ? '' : ` of process ${pid}`}
                </td>
                <td class="number">{countText(count)}</td>
                <td class="number">{durationText(total)}</td>
                <td class="number">{durationText(max)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {threads.length > MOST_THREADS && <p>{countText(threads.length - MOST_THREADS)} more.</p>}
      {longest.length > 0 && (
        <LongestStalls stalls={longest.slice(0, MOST_STALLS)} rows={rows.stalls} />
      )}
      {slowed.length > 0 && (
        <table class="figures">
          <caption>How much of the slowest 5 % lay within blocked loops and collections</caption>
          <tbody>
            {slowed.map(({ name, service, either, time, count }) => (
              <tr key={`${service ?? ''} ${name}`}>
                <th scope="row">
                  {name}
                  {service === null ? '' : ` (${service})`}
                </th>
                <td class="number">{((either / time) * 100).toFixed(0)} %</td>
                <td class="number">
                  of {countText(count)} {count === 1 ? 'span' : 'spans'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

interface LongestStallsProps {
  stalls: readonly LongStall[];
  rows: readonly ReportedRow[];
}

/** What a thread did while its event loop was blocked, and what waited for it. */
function LongestStalls({ stalls, rows }: LongestStallsProps) {
  const { recording } = useApp();
  return (
    <table class="figures">
      <caption>The longest times in which an event loop was blocked</caption>
      <ColumnHeads words={['for', 'since', 'where', 'cause', 'ran', 'delayed']} />
      <tbody>
        {stalls.map((stall, at) => {
          const found = rows[at];
          return (
            <tr key={`${stall.start} ${placeText(stall)}`}>
              <th scope="row">
                <RowLink
                  text={durationText(stall.duration)}
                  title="Show it on the time line"
                  found={found}
                />
              </th>
              <td class="whole">{found && momentText(recording.answer, found.start)}</td>
              <td>{placeText(stall)}</td>
              <td>{causeText(stall)}</td>
              <td>{countsText(stall.ran)}</td>
              <td>{countsText(stall.delayed)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface RowLinkProps {
  text: string;
  title: string;
  found: ReportedRow | undefined;
}

/** Shows a row on the time line, and what is known of it. */
function RowLink({ text, title, found }: RowLinkProps) {
  const app = useApp();
  if (found === undefined) return <>{text}</>;
  return (
    <button
      type="button"
      class="link"
      title={title}
      onClick={() => {
        app.view.set({ panel: 'details' });
        void app.showRow(found.row, found.start);
      }}
    >
      {text}
    </button>
  );
}
