import { STATE_TEXTS } from '../../look/report/state-texts.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { countText, durationText } from '../../look/report/units.js';
import type { Panel } from './panel.js';

/** What was recorded, by which processes, and what was lost. */
export const recordingPanel: Panel = {
  id: 'recording',
  title: 'Recording',
  question: 'Which processes were recorded, and what was lost?',
  Content: Sources,
};

const COLUMNS = ['service', 'process', 'state', 'format', 'lost', 'path'];

function Sources() {
  const { recording } = useApp();
  const answer = useStore(recording.store, (state) => state.answer);
  if (answer === undefined) return <p>Reading …</p>;
  const began = new Date(Number(BigInt(answer.epoch) / 1_000_000n));
  return (
    <>
      <p>
        {countText(answer.rows)} rows in {durationText(answer.length)}, from {began.toISOString()}.
      </p>
      {answer.problems.map((problem) => (
        <p key={problem} role="alert">
          {problem}
        </p>
      ))}
      <table>
        <thead>
          <tr>
            {COLUMNS.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {answer.sources.map(({ number, service, pid, state, format, losses, path }) => (
            <tr key={number}>
              <td>{service ?? '–'}</td>
              <td>{pid ?? '–'}</td>
              <td>{STATE_TEXTS[state]}</td>
              <td>{format}</td>
              <td>
                {losses.length === 0 ? 'nothing' : losses.map(({ reason }) => reason).join('; ')}
              </td>
              <td class="any-break">{path}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
