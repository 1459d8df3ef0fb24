import type { ProcessAnswer, RecordingAnswer, SourceAnswer } from '../../../look/wire/answers.js';
import { STATE_TEXTS } from '../../../look/report/print/report-texts.js';
import {
  type ReportColumn,
  type ReportTable,
  tableOf,
} from '../../../look/report/print/tables/report-table.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import { momentText } from '../../time-line/axis-text.js';

/** The processes that were recorded, and losses. */
export function Recordings() {
  const { recording } = useApp();
  const answer = useStore(recording.store, (state) => state.answer);
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
      <FiguresTable table={processTable(answer)} />
    </>
  );
}

function processTable(answer: RecordingAnswer): ReportTable<ProcessAnswer> {
  const textColumn = (
    title: string,
    value: (process: ProcessAnswer, sources: SourceAnswer[]) => string | null,
  ): ReportColumn<ProcessAnswer> => ({
    title,
    unit: 'text',
    value: (process) =>
      value(
        process,
        process.sources.map((each) => answer.sources[each]!),
      ),
    spare: 0,
  });
  const eachOf = (title: string, text: (source: SourceAnswer) => string) =>
    textColumn(title, (_, sources) => [...new Set(sources.map(text))].join(', '));
  const columns = [
    textColumn('service', ({ service }) => service ?? '–'),
    textColumn('process', ({ pid }) => String(pid ?? '–')),
    eachOf('state', ({ state }) => STATE_TEXTS[state]),
    // Each process that runs was read at a moment of its own.
    textColumn('complete to', (_, sources) => {
      const untils = sources.flatMap(({ until = [] }) => until);
      return untils.length === 0 ? null : momentText(answer, Math.min(...untils));
    }),
    eachOf('format', ({ format }) => format),
    textColumn('lost', (_, sources) => {
      const lost = sources.flatMap(({ losses }) => losses.map(({ reason }) => reason));
      return lost.length === 0 ? 'nothing' : lost.join('; ');
    }),
    { ...eachOf('path', ({ path }) => path), isProse: true },
  ];
  return tableOf('Recorded processes', columns, answer.processes, Infinity, 'processes');
}
