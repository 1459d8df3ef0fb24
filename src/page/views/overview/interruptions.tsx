import type { Report } from '../../../look/report/shape/report-shape.js';
import {
  interruptionTable,
  longStallTable,
  slowShareTable,
  stallLineTable,
} from '../../../look/report/print/tables/interruption-tables.js';
import type { ReportAnswer } from '../../../look/wire/panel-answers.js';
import { momentText } from '../../time-line/axis-text.js';
import { useApp } from '../../state/app.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { RowLink } from '../../shell/links.js';

interface InterruptionsProps {
  interruptions: Report['interruptions'];
  /** The longest of each thread, and the longest stalls. */
  rows: Pick<ReportAnswer, 'threads' | 'stalls'>;
}

/** Stalls of event loops and garbage collections, and which spans they made slow. */
export function Interruptions({ interruptions, rows }: InterruptionsProps) {
  const { recording } = useApp();
  if (interruptions.threads.length === 0) return null;
  const table = interruptionTable(interruptions);
  const lines = stallLineTable(interruptions);
  const stalls = longStallTable(interruptions);
  const shares = slowShareTable(interruptions);
  return (
    <div>
      <FiguresTable
        table={table}
        cell={(_, { title }, text, at) =>
          title === 'what' ? (
            <RowLink
              text={text}
              title="Show the longest"
              found={rows.threads[at]}
              view="time-line"
            />
          ) : undefined
        }
      />
      <FiguresTable table={lines} />
      <FiguresTable
        table={stalls}
        cell={(stall, { title }, text) => {
          const found = rows.stalls[interruptions.longest.indexOf(stall)];
          if (found === undefined) return undefined;
          if (title === 'at') return momentText(recording.answer, found.start);
          if (title !== 'took') return undefined;
          const where = 'Show it on the time line';
          return <RowLink text={text} title={where} found={found} view="time-line" />;
        }}
      />
      <FiguresTable
        caption="How much of the slowest 5 % lay within blocked loops and collections"
        table={shares}
      />
    </div>
  );
}
