import { causeText, countsText, placeText } from '../../../look/report/interruption-texts.js';
import type { LongStall, Report } from '../../../look/report/report-shape.js';
import type { TableColumns } from '../../../look/wire/panel-answers.js';
import { choiceFields, choiceOf } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { countText, durationText } from '../../time-line/duration-text.js';

/** Groups whose slow spans spent less than this share in interruptions are not listed. */
const LEAST_SHARE = 0.1;
/** Stalls that are listed. */
const MOST_STALLS = 5;

/** Stalls of event loops and garbage collections, and which spans they made slow. */
export function Interruptions(interruptions: Report['interruptions']) {
  const { stalls, longest, collections, slow } = interruptions;
  const all = [...stalls, ...collections];
  const slowed = slow.filter(({ either, time }) => either >= LEAST_SHARE * time);
  if (all.length === 0) return null;
  return (
    <div>
      <table class="figures">
        <caption>What kept threads from working</caption>
        <tbody>
          {all.map(({ name, count, total, max }) => (
            <tr key={name}>
              <th scope="row">
                <LongestLink name={name} />
              </th>
              <td class="number">{count === 1 ? 'once' : `${countText(count)} times`}</td>
              <td class="number">{durationText(total)} in all</td>
              <td class="number">{durationText(max)} at most</td>
            </tr>
          ))}
        </tbody>
      </table>
      {longest.length > 0 && <LongestStalls stalls={longest.slice(0, MOST_STALLS)} />}
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

/** What a thread did while its event loop was blocked, and what waited for it. */
function LongestStalls({ stalls }: { stalls: readonly LongStall[] }) {
  return (
    <table class="figures">
      <caption>The longest times in which an event loop was blocked</caption>
      <thead>
        <tr>
          <th scope="col" class="number">
            for
          </th>
          <th scope="col">since, UTC</th>
          <th scope="col">where</th>
          <th scope="col">cause</th>
          <th scope="col">ran</th>
          <th scope="col">delayed</th>
        </tr>
      </thead>
      <tbody>
        {stalls.map((stall) => (
          <tr key={`${stall.start} ${placeText(stall)}`}>
            <td class="number">{durationText(stall.duration)}</td>
            <td class="number">{stall.start.slice(11, 23)}</td>
            <th scope="row">{placeText(stall)}</th>
            <td>{causeText(stall)}</td>
            <td>{countsText(stall.ran)}</td>
            <td>{countsText(stall.delayed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Shows the longest row of a name on the time line. */
function LongestLink({ name }: { name: string }) {
  const app = useApp();
  const show = async (): Promise<void> => {
    const choice = choiceOf(app.view.value);
    const where = `name="${name}"`;
    const fields = { sort: 'duration', descending: 'true', first: 0, count: 1, names: 0 };
    const answer = await app.server.columns('/data/table', {
      ...choiceFields({ ...choice, where }),
      ...fields,
    });
    const { row, start } = answer.columns as unknown as TableColumns;
    if (row.length === 0) return;
    app.view.set({ panel: 'details' });
    await app.showRow(row[0]!, start[0]);
  };
  return (
    <button type="button" class="link" title="Show the longest" onClick={() => void show()}>
      {name}
    </button>
  );
}
