import { useState } from 'preact/hooks';
import type { Group, Report } from '../../../look/report/shape/report-shape.js';
import {
  groupTable,
  groupWaitTable,
  rateNote,
} from '../../../look/report/print/tables/group-tables.js';
import { countText } from '../../../look/report/measures/units.js';
import { waitingGroups } from '../../../look/report/print/report-texts.js';
import { searchText } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { ErrorsLink, Link } from '../../shell/links.js';

/** Latency by route, name or service, and what it waited for. A click on a title sorts. */
export function GroupFigures({ report: given }: { report: Report }) {
  const { groups, by, attributes } = given;
  const { navigate } = useApp();
  const [sort, sortBy] = useState('share');
  const figureOf = (group: Group): number => Number(group[sort as keyof Group]);
  const report = { by, attributes, groups: groups.toSorted((a, b) => figureOf(b) - figureOf(a)) };
  const waiting = waitingGroups(groups);
  const isEstimate = waiting.some(({ sampled, recorded }) => sampled < recorded);
  const table = groupTable(report);
  const rates = rateNote(given);
  const waits = waiting.length > 0 ? groupWaitTable(report).columns.slice(-1) : [];
  return (
    <div>
      <FiguresTable
        caption={`${table.title}, the most first: ${sort}`}
        table={{ ...table, columns: [...table.columns, ...waits] }}
        sort={{ by: sort, choose: sortBy }}
        cell={({ where, errors, name, service }, { title }, text) => {
          if (where === null) return undefined;
          if (title === 'errors' && errors > 0) {
            return <ErrorsLink where={[...where, 'status=error']} text={text} />;
          }
          if (title !== table.columns[0]!.title) return undefined;
          return (
            <Link
              title="Show this route"
              go={() => {
                navigate('route', {
                  parameters: { name, service: service ?? '', where: searchText(where) },
                });
              }}
            >
              {text}
            </Link>
          );
        }}
      />
      {rates !== undefined && <p class="quiet">{rates}.</p>}
      {isEstimate && (
        <p class="quiet">
          “waited for” is an estimate: from at most{' '}
          {countText(Math.max(...waiting.map(({ sampled }) => sampled)))} spans of each {by}, taken
          evenly from their time.
        </p>
      )}
    </div>
  );
}
