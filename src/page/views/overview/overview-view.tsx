import { figureHints } from '../../../look/report/print/hint-texts.js';
import {
  isBeforeAndAfter,
  likelySides,
  runsOf,
} from '../../../look/report/recording/recording-sides.js';
import type { MpiRun } from '../../../look/report/shape/report-shape.js';
import { costText, incompleteText } from '../../../look/report/print/report-texts.js';
import { errorTable } from '../../../look/report/print/tables/error-table.js';
import { lossTable } from '../../../look/report/print/tables/source-tables.js';
import {
  memoryTable,
  profileTable,
  mpiTable,
  poolTable,
  threadTable,
} from '../../../look/report/print/tables/resource-tables.js';
import { bytesText, countText } from '../../../look/report/measures/units.js';
import type { SourceAnswer } from '../../../look/wire/answers.js';
import type { ReportAnswer } from '../../../look/wire/panel-answers.js';
import { choiceFields, scopeOf } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { GroupBy, useGroupBy } from './group-by.js';
import { useAnswer } from '../../data/use-answer.js';
import { ErrorsLink, ExampleLink } from '../../shell/links.js';
import { GroupFigures } from './group-figures.js';
import { Interruptions } from './interruptions.js';
import { Recordings } from './recordings.js';
import { OpenSpans, SlowTraces } from './slow-traces.js';

const SLOWEST = 5;

/** The figures of `tracewright report`, of the range and the services. */
export function OverviewView() {
  const app = useApp();
  const by = useGroupBy();
  const choice = useStore(app.view, (state) => JSON.stringify(scopeOf(state)));
  const { answer, words, pending } = useAnswer<ReportAnswer>(`${choice} ${by}`, (signal) =>
    app.server.json<ReportAnswer>(
      '/data/report',
      { ...choiceFields(scopeOf(app.view.value)), slowest: SLOWEST, by },
      signal,
    ),
  );
  return (
    <div aria-busy={pending}>
      <GroupBy kinds={['route', 'name', 'service']} />
      <CompareHint />
      {words !== '' && <p role="alert">{words}</p>}
      {answer === undefined ? words === '' && <p>Reading …</p> : <Figures {...answer} />}
      <section id="recordings" aria-label="Recordings">
        <Recordings />
      </section>
    </div>
  );
}

/** A report of both sides of a comparison together says little. */
function CompareHint() {
  const { recording, navigate } = useApp();
  const sources = useStore(recording.store, ({ answer }) => answer?.sources) ?? [];
  const runs = runsOf(sources);
  const sides = likelySides(sources, runs);
  if (!isBeforeAndAfter(runs, sides)) return null;
  const { before, after } = sides;
  return (
    <p>
      There are two recordings of the same services.{' '}
      <button
        type="button"
        onClick={() => {
          navigate('compare');
        }}
      >
        Compare {before.join(' and ')} with {after.join(' and ')}
      </button>
    </p>
  );
}

/** Its open spans are what it was doing when it was killed: they come before the slowest ones. */
function isCutOff({ state }: SourceAnswer): boolean {
  return state === 'died' || state === 'unfinished';
}

function Figures(answer: ReportAnswer) {
  const { recording } = useApp();
  const wasKilled = useStore(recording.store, ({ answer }) => answer?.sources.some(isCutOff));
  const { report, slowest, open } = answer;
  const { groups, errors, pools, interruptions, threads, mpi } = report;
  const incomplete = incompleteText(report);
  const openSpans = report.open.count > 0 && <OpenSpans report={report} rows={open} />;
  const isEmpty = groups.length === 0 && threads.length === 0 && mpi.length === 0;
  return (
    <>
      {isEmpty && <p>There are no spans here. Clear the search or the range to see more.</p>}
      {figureHints(report).map((sentences) => (
        <p key={sentences[0]}>{sentences.join(' ')}</p>
      ))}
      <div class="report-tables">
        {groups.length > 0 && <GroupFigures report={report} />}
        {wasKilled === true && openSpans}
        {report.slowest.length > 0 && <SlowTraces slowest={report.slowest} rows={slowest} />}
        <FiguresTable
          table={errorTable(errors)}
          cell={({ where }, { unit, title }, text) => {
            if (unit === 'count') return <ErrorsLink where={where} text={text} />;
            const isExample = title === 'example' && text !== '';
            return isExample ? <ExampleLink trace={text} /> : undefined;
          }}
        />
        <FiguresTable table={poolTable(pools)} />
        {wasKilled !== true && openSpans}
        <Interruptions interruptions={interruptions} rows={answer} />
        {mpi.length > 0 && <MpiTables runs={mpi} />}
        <FiguresTable table={threadTable(threads)} />
        <FiguresTable table={profileTable(report.profile)} />
        <FiguresTable table={memoryTable(report.memory)} />
      </div>
      {incomplete !== undefined && <p>{incomplete}.</p>}
      <FiguresTable table={lossTable(report)} />
      <p class="quiet">{costText(report)}.</p>
    </>
  );
}

const MOST_PAIRS = 50;

/** Calls of MPI, and what ranks sent to each other. */
function MpiTables({ runs }: { runs: readonly MpiRun[] }) {
  return (
    <>
      {runs.map((run) => (
        <div key={run.path}>
          <FiguresTable table={mpiTable(run)} />
          {run.traffic.length > 0 && (
            <table class="figures">
              <caption>Messages, the first {MOST_PAIRS} pairs of ranks</caption>
              <tbody>
                {run.traffic.slice(0, MOST_PAIRS).map(({ from, to, messages, bytes }) => (
                  <tr key={`${from} ${to}`}>
                    <th scope="row">
                      rank {from} → {to}
                    </th>
                    <td class="number">{countText(messages)} messages</td>
                    <td class="number">{bytes === null ? '' : bytesText(bytes)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </div>
      ))}
    </>
  );
}
