import { groupTable } from '../../../look/report/print/tables/group-tables.js';
import { calleeTable } from '../../../look/report/print/tables/callee-table.js';
import { errorTable } from '../../../look/report/print/tables/error-table.js';
import { slowShareTable } from '../../../look/report/print/tables/interruption-tables.js';
import { countText, durationText, rateText } from '../../../look/report/measures/units.js';
import type { Group } from '../../../look/report/shape/report-shape.js';
import type { ExampleRow, ReportAnswer } from '../../../look/wire/view-answers.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { type Choice, choiceFields, routeOf, scopeOf } from '../../data/choice.js';
import { useAnswer } from '../../data/use-answer.js';
import { ClearRange } from '../../shell/links.js';
import { ErrorsLink, RouteLink, TraceLink, ViewLink } from '../../shell/view-link.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { FlameGraph } from './flame-graph.js';
import { LatencyChart } from './latency-chart.js';
import { RequestParts } from './request-parts.js';

/** Why a route is slow: the requests that the view's parameter `where` selects. */
export function RouteView() {
  const { view } = useApp();
  const where = useStore(view, (state) => routeOf(state).where);
  return where === '' ? <RouteChoice /> : <OneRoute where={where} />;
}

function useReport(choice: Choice, fields: Readonly<Record<string, string | number>>) {
  const app = useApp();
  const asked = { ...choiceFields(choice), ...fields };
  return useAnswer<ReportAnswer>(JSON.stringify(asked), (signal) =>
    app.server.json<ReportAnswer>('/data/report', asked, signal),
  );
}

/** The routes there are: durations of several kinds of spans are never mixed. */
function RouteChoice() {
  const { view } = useApp();
  const scope = useStore(view, (state) => JSON.stringify(scopeOf(state)));
  const { answer, words } = useReport(JSON.parse(scope) as Choice, { slowest: 0 });
  if (words !== '') return <p role="alert">{words}</p>;
  if (answer === undefined) return <p>Counting the routes …</p>;
  const table = groupTable(answer.report);
  if (table.rows.length === 0) return <p>There are no spans in this range.</p>;
  return (
    <FiguresTable
      caption="Choose a route"
      table={table}
      cell={({ name, service, where }, { title }, text) =>
        where === null || title !== table.columns[0]!.title ? undefined : (
          <RouteLink name={name} service={service} where={where}>
            {text}
          </RouteLink>
        )
      }
    />
  );
}

/** Which of its requests are looked at. */
const PARTS = [
  ['', 'all'],
  ['slow', 'slowest 5 %'],
  ['failed', 'failed'],
] as const;

function OneRoute({ where }: { where: string }) {
  const { view } = useApp();
  const scope = useStore(view, (state) => JSON.stringify(routeOf(state)));
  const part = useStore(view, ({ parameters }) => parameters['part'] ?? '');
  const least = useStore(view, ({ parameters }) => parameters['least']);
  const name = useStore(view, ({ parameters }) => parameters['name']) ?? where;
  const service = useStore(view, ({ parameters }) => parameters['service']) ?? '';
  const terms = { slow: `duration>=${least}ns`, failed: 'status=error' }[part];
  const choice = JSON.parse(scope) as Choice;
  if (terms !== undefined) choice.where += ` ${terms}`;
  const { answer, words, pending } = useReport(choice, { slowest: 0, closer: 1 });
  const group = answer?.report.groups[0];
  return (
    <div class="route" aria-busy={pending}>
      <h2>
        {name}
        {service !== '' && ` · ${service}`}
      </h2>
      {group !== undefined && <p class="waited">{figuresText(group)}</p>}
      <p>
        {PARTS.map(([id, title]) => (
          <button
            key={id}
            type="button"
            aria-pressed={part === id}
            disabled={id === 'slow' && part !== 'slow' && (group === undefined || part !== '')}
            onClick={() => {
              const parameters = { ...view.value.parameters, part: id };
              const p95 = id === 'slow' && group !== undefined ? { least: String(group.p95) } : {};
              view.set({ parameters: { ...parameters, ...p95 } });
            }}
          >
            {title}
          </button>
        ))}
      </p>
      {words !== '' && <p role="alert">{words}</p>}
      <LatencyChart choice={choice} />
      {answer === undefined ? (
        words === '' && <p>Counting what its requests waited for …</p>
      ) : group === undefined ? (
        <NoRequests part={part} />
      ) : (
        <Figures answer={answer} group={group} />
      )}
    </div>
  );
}

/** `529 requests, 6/s, 0 failed, p50 16 ms, p95 62 ms, p99 152 ms, max 287 ms` */
function figuresText({ count, rate, errors, p50, p95, p99, max }: Group): string {
  const percentiles = { p50, p95, p99, max };
  const texts = Object.entries(percentiles).map(
    ([name, value]) => `${name} ${durationText(value)}`,
  );
  return [
    `${countText(count)} ${count === 1 ? 'span' : 'spans'}`,
    rateText(rate),
    `${countText(errors)} failed`,
    ...texts,
  ].join(' · ');
}

/** Says what keeps the requests from being shown. */
function NoRequests({ part }: { part: string }) {
  const app = useApp();
  const hasRange = useStore(app.view, ({ rangeFrom }) => rangeFrom !== undefined);
  return (
    <p>
      {part === 'failed' ? 'None of its spans failed.' : 'It has no spans here.'}{' '}
      {hasRange && <ClearRange />}
    </p>
  );
}

function Figures({ answer, group }: { answer: ReportAnswer; group: Group }) {
  const { report, closer } = answer;
  return (
    <>
      <section aria-label="Examples">
        <Examples examples={closer?.examples ?? []} />
      </section>
      <RequestParts group={group} />
      <FlameGraph nodes={closer?.flame ?? []} mean={group.total / Math.max(1, group.count)} />
      <div class="report-tables">
        <FiguresTable caption="What one request calls" table={calleeTable(report)} />
        <FiguresTable
          table={errorTable(report.errors)}
          cell={({ where }, { unit, title }, text) => {
            if (unit === 'count') return <ErrorsLink where={where}>{text}</ErrorsLink>;
            return title === 'example' && text !== '' ? <TraceLink id={text} /> : undefined;
          }}
        />
        <FiguresTable
          caption="Of the slowest 5 %, within blocked loops and collections"
          table={slowShareTable(report.interruptions)}
        />
      </div>
    </>
  );
}

const EXAMPLES: Readonly<Record<ExampleRow['what'], string>> = {
  typical: 'Typical',
  slowest: 'Slowest',
  notBlocked: 'Slowest, loop not blocked',
  failed: 'Last failed',
};

/** Requests to look at, each a link to its trace. */
function Examples({ examples }: { examples: readonly ExampleRow[] }) {
  return (
    <ul class="examples">
      {examples.map(({ what, row, start, duration, traceId }) => (
        <li key={what}>
          {EXAMPLES[what]}:{' '}
          <ViewLink
            view="trace"
            target={{ row, key: String(start), ...(traceId !== null && { id: traceId }) }}
            title="Show its trace"
          >
            {durationText(duration)}
          </ViewLink>
        </li>
      ))}
    </ul>
  );
}
