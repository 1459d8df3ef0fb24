import type { Report } from '../../../look/report/report-shape.js';
import { openTable, openTitle } from '../../../look/report/tables/open-table.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { momentText } from '../../data/moment-text.js';
import { useApp } from '../../state/app.js';
import { FiguresTable } from '../figures-table.js';
import { SpanLink } from './span-link.js';

interface OpenSpansProps {
  report: Report;
  /** Of the first spans. */
  rows: readonly ReportedRow[];
}

/** What had not ended: each request, and below it what it was waiting for. */
export function OpenSpans({ report, rows }: OpenSpansProps) {
  const { recording } = useApp();
  return (
    <FiguresTable
      caption={`${openTitle(report)}, the oldest first`}
      table={openTable(report.open)}
      cell={(_, { title }, text, at) => {
        const found = rows[at];
        if (found === undefined) return undefined;
        if (title === 'since') return momentText(recording.answer, found.start);
        return title === 'span' ? <SpanLink text={text} found={found} /> : undefined;
      }}
    />
  );
}
