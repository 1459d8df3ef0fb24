import type { SourceAnswer } from '../../../look/wire/answers.js';
import { STATE_TEXTS } from '../../../look/report/print/report-texts.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import { momentText } from '../../time-line/axis-text.js';

const COMPLETE_TO = 'complete to';
const COLUMNS = ['service', 'process', 'state', COMPLETE_TO, 'format', 'lost', 'path'];

/** The processes that were recorded, and losses. */
export function Recordings() {
  const { recording } = useApp();
  const answer = useStore(recording.store, (state) => state.answer);
  // Each process that runs was read at a moment of its own.
  const isAnyRunning = answer?.sources.some(({ until }) => until !== undefined) === true;
  const columns = COLUMNS.filter((title) => title !== COMPLETE_TO || isAnyRunning);
  if (answer === undefined) return <p>Reading …</p>;
  const began = new Date(Number(BigInt(answer.epoch) / 1_000_000n));
  return (
    <>
      <p>
        {countText(answer.rows)} records in {durationText(answer.length)}, from{' '}
        {began.toISOString()}.
      </p>
      {answer.problems.map((problem) => (
        <p key={problem} role="alert">
          {problem}
        </p>
      ))}
      <table>
        <thead>
          <tr>
            {columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {answer.processes.map(({ number, service, pid, sources }) => (
            <ProcessRow
              key={number}
              process={pid}
              service={service}
              sources={sources.map((each) => answer.sources[each]!)}
              completeTo={isAnyRunning ? (until) => momentText(answer, until) : undefined}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

interface ProcessRowProps {
  service: string | undefined;
  process: number | undefined;
  sources: SourceAnswer[];
  /** Undefined: no process runs. */
  completeTo: ((until: number) => string) | undefined;
}

function ProcessRow({ service, process, sources, completeTo }: ProcessRowProps) {
  const lost = sources.flatMap(({ losses }) => losses.map(({ reason }) => reason));
  const each = (text: (source: SourceAnswer) => string): string =>
    [...new Set(sources.map(text))].join(', ');
  const untils = sources.flatMap(({ until = [] }) => until);
  return (
    <tr>
      <td>{service ?? '–'}</td>
      <td>{process ?? '–'}</td>
      <td>{each(({ state }) => STATE_TEXTS[state])}</td>
      {completeTo && <td>{untils.length > 0 && completeTo(Math.min(...untils))}</td>}
      <td>{each(({ format }) => format)}</td>
      <td>{lost.length === 0 ? 'nothing' : lost.join('; ')}</td>
      <td class="any-break">{each(({ path }) => path)}</td>
    </tr>
  );
}
