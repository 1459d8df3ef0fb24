import { sourceTable } from '../../../look/report/print/tables/source-tables.js';
import type { Report } from '../../../look/report/shape/report-shape.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import { utcText } from '../../time-line/axis-text.js';

/** What was recorded, and what cannot be read; and the recordings that a report is of. */
export function Recordings({ report }: { report: Report | undefined }) {
  const { recording } = useApp();
  const answer = useStore(recording.store, (state) => state.answer);
  if (answer === undefined) return <p>Reading …</p>;
  const began = utcText(answer, 0);
  return (
    <>
      <p>
        {countText(answer.rows)} records in {durationText(answer.length)}
        {began !== undefined && `, from ${began}`}.
      </p>
      {answer.problems.map((problem) => (
        <p key={problem} role="alert">
          {problem}
        </p>
      ))}
      {report !== undefined && <FiguresTable table={sourceTable(report)} />}
    </>
  );
}
