import { groupTable } from '../../../look/report/print/tables/group-tables.js';
import { calleeTable } from '../../../look/report/print/tables/callee-table.js';
import { causeTable } from '../../../look/report/print/tables/error-table.js';
import { slowShareTable } from '../../../look/report/print/tables/interruption-tables.js';
import { countText, durationText, rateText } from '../../../look/report/measures/units.js';
import type { Group } from '../../../look/report/shape/report-shape.js';
import {
  type ExampleRow,
  OVERVIEW_QUESTION,
  type ReportAnswer,
} from '../../../look/wire/view-answers.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { type Choice, choiceFields, routeOf, scopeOf } from '../../data/choice.js';
import { useAnswer } from '../../data/use-answer.js';
import { ClearRange } from '../../shell/links.js';
import { RouteLink, ViewLink } from '../../shell/view-link.js';
import { causeCell } from '../overview/report-figures.js';
import { useApp } from '../../state/app.js';
import { setParameters } from '../../shell/address.js';
import { useParameter } from '../../state/parameter.js';
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
  const { answer, words } = useReport(JSON.parse(scope) as Choice, OVERVIEW_QUESTION);
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

interface SwitchProps {
  chosen: string;
  choices: readonly (readonly [id: string, title: string])[];
  choose: (id: string) => void;
  isDisabled?: (id: string) => boolean;
}

/** Buttons of which one is pressed. */
function Switch({ chosen, choices, choose, isDisabled = () => false }: SwitchProps) {
  return (
    <p>
      {choices.map(([id, title]) => (
        <button
          key={id}
          type="button"
          aria-pressed={chosen === id}
          disabled={isDisabled(id)}
          onClick={() => {
            choose(id);
          }}
        >
          {title}
        </button>
      ))}
    </p>
  );
}

function OneRoute({ where }: { where: string }) {
  const { view } = useApp();
  const scope = useStore(view, (state) => JSON.stringify(routeOf(state)));
  const part = useParameter('part');
  const least = useParameter('least');
  const name = useParameter('name') || where;
  const service = useParameter('service');
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
      <Switch
        chosen={part}
        choices={PARTS}
        isDisabled={(id) =>
          id === 'slow' && part !== 'slow' && (group === undefined || part !== '')
        }
        choose={(id) => {
          const p95 = id === 'slow' && group !== undefined ? { least: String(group.p95) } : {};
          setParameters(view, { part: id, ...p95 });
        }}
      />
      {words !== '' && <p role="alert">{words}</p>}
      <LatencyChart choice={choice} />
      {words !== '' ? null : answer === undefined ? (
        <p>Counting what its requests waited for …</p>
      ) : group === undefined ? (
        <NoRequests part={part} />
      ) : (
        <Figures answer={answer} group={group} within={choice.where} />
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

interface FiguresProps {
  answer: ReportAnswer;
  group: Group;
  /** The search that selects its requests. */
  within: string;
}

function Figures({ answer, group, within }: FiguresProps) {
  const { report, closer } = answer;
  return (
    <>
      <section aria-label="Examples">
        <Examples examples={closer?.examples ?? []} />
      </section>
      <RequestParts group={group} />
      {closer !== null && <Flames closer={closer} group={group} />}
      <div class="report-tables">
        <FiguresTable caption="What one request calls" table={calleeTable(report)} />
        <FiguresTable table={causeTable(report.errors)} cell={causeCell(within)} />
        <FiguresTable
          caption="Of the slowest 5 %, within blocked loops and collections"
          table={slowShareTable(report.interruptions)}
        />
      </div>
    </>
  );
}

interface FlamesProps {
  closer: NonNullable<ReportAnswer['closer']>;
  group: Group;
}

/** What its requests ran: by CPU samples where there are some, or by spans. */
function Flames({ closer: { flame, code }, group }: FlamesProps) {
  const { view } = useApp();
  const samples = code[0]?.total ?? 0;
  const wanted = useParameter('flame');
  const isCode = samples > 0 && wanted === '';
  if (samples === 0 && flame.length < 2) return null;
  // Those that were looked at may differ from the average.
  const scale = group.total / Math.max(1, group.count) / Math.max(1, flame[0]?.total ?? 0);
  return (
    <section aria-label="Flame graph">
      <h3>{isCode ? 'Code that ran for its requests' : 'Spans of one request, by their time'}</h3>
      {samples > 0 && (
        <Switch
          chosen={wanted}
          choices={[
            ['', `${countText(samples)} CPU samples`],
            ['spans', 'spans'],
          ]}
          choose={(flame) => {
            setParameters(view, { flame });
          }}
        />
      )}
      {isCode ? (
        <FlameGraph
          key="code"
          nodes={code}
          what="Functions by CPU samples"
          text={(count) => `${countText(count)} ${count === 1 ? 'sample' : 'samples'}`}
          areFunctions
        />
      ) : (
        <FlameGraph
          key="spans"
          nodes={flame}
          what="Spans of the critical path"
          text={(time) => durationText(time * scale)}
        />
      )}
    </section>
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
