import type {
  CompareAnswer,
  CompareSide,
  ComparedGroup,
} from '../../../look/wire/panel-answers.js';
import { Choice } from '../../controls/choice.js';
import { choiceOf, searchFor } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../time-line/duration-text.js';
import { ColumnHeads } from '../column-heads.js';
import type { Panel } from '../panel.js';
import { useAnswer } from '../use-answer.js';
import { runsOf } from './recording-sides.js';
import type { Run } from './recording-sides.js';

/** Which spans became slower from one recording to another. */
export const comparePanel: Panel = {
  id: 'compare',
  title: 'Compare',
  question: 'What became slower from one recording to another?',
  key: 'c',
  Content: Compare,
};

const MOST_GROUPS = 200;

function Compare() {
  const app = useApp();
  const sources = useStore(app.recording.store, ({ answer }) => answer?.sources);
  const runs = runsOf(sources ?? []);
  if (runs.length < 2) {
    return (
      <p>
        This needs two recordings: <code>tracewright view BEFORE AFTER</code>.
      </p>
    );
  }
  return <Sides runs={runs} />;
}

function Sides({ runs }: { runs: readonly Run[] }) {
  const app = useApp();
  const { view } = app;
  const before = useStore(view, ({ parameters }) => parameters['compare.before']) ?? runs[0]!.name;
  const after = useStore(view, ({ parameters }) => parameters['compare.after']) ?? runs[1]!.name;
  const where = useStore(view, (state) => choiceOf(state).where);
  const { answer, words, pending } = useAnswer<CompareAnswer>(
    JSON.stringify([before, after, where]),
    (signal) =>
      app.server.post<CompareAnswer>(
        '/data/compare',
        { before: sourcesOf(runs, before), after: sourcesOf(runs, after), where },
        signal,
      ),
  );
  const names = runs.map(({ name }) => name);
  const choose = (parameter: string, name: string): void => {
    view.set({ parameters: { ...view.value.parameters, [parameter]: name } });
  };
  return (
    <div aria-busy={pending}>
      <p class="choice-line">
        <Choice
          label="Before"
          words={names}
          value={before}
          onChoice={(name) => {
            choose('compare.before', name);
          }}
        />{' '}
        <Choice
          label="After"
          words={names}
          value={after}
          onChoice={(name) => {
            choose('compare.after', name);
          }}
        />
        {where !== '' && (
          <>
            {' '}
            Spans that match <code>{where}</code>{' '}
            <button
              type="button"
              onClick={() => {
                searchFor(view, '');
              }}
            >
              Clear search
            </button>
          </>
        )}
      </p>
      {words !== '' && <p role="alert">{words}</p>}
      {answer === undefined ? (
        words === '' && <p>Reading …</p>
      ) : (
        <>
          <p>{summaryOf(answer.groups)}</p>
          <Groups groups={answer.groups.slice(0, MOST_GROUPS)} />
        </>
      )}
    </div>
  );
}

function sourcesOf(runs: readonly Run[], name: string): number[] {
  return runs.find((run) => run.name === name)?.sources ?? [];
}

function Groups({ groups }: { groups: readonly ComparedGroup[] }) {
  const app = useApp();
  return (
    <table class="figures">
      <caption>
        A typical span: the geometric mean of the durations, with its 95 % confidence interval
      </caption>
      <ColumnHeads
        words={['span', 'service', 'a typical one takes']}
        numbers={['count', 'p50', 'p95', 'errors']}
      />
      <tbody>
        {groups.map(({ name, service, before, after, ratio }) => (
          <tr key={`${service ?? ''} ${name}`}>
            <th scope="row">
              <button
                type="button"
                class="link"
                onClick={() => {
                  searchFor(app.view, `name="${name}"`);
                }}
              >
                {name}
              </button>
            </th>
            <td>{service ?? '–'}</td>
            <td class={ratio !== null && ratio.low > 1 ? 'bad' : ''}>
              {ratioWords({ before, after, ratio })}
            </td>
            <td class="number">
              {countText(before.count)} → {countText(after.count)}
            </td>
            <td class="number">
              {percentileText(before, 'p50')} → {percentileText(after, 'p50')}
            </td>
            <td class="number">
              {percentileText(before, 'p95')} → {percentileText(after, 'p95')}
            </td>
            <td class="number">
              {countText(before.errors)} → {countText(after.errors)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function percentileText(side: CompareSide, percentile: 'p50' | 'p95'): string {
  return side.count === 0 ? '–' : durationText(side[percentile]);
}

/** What the table says, in a sentence that counts each of its rows once. */
function summaryOf(groups: readonly ComparedGroup[]): string {
  const compared = groups.filter(({ ratio }) => ratio !== null);
  if (compared.length === 0) return 'No kind of span is often enough in both to compare it.';
  const slower = compared.filter(({ ratio }) => ratio!.low > 1);
  const faster = compared.filter(({ ratio }) => ratio!.high < 1);
  const few = groups.length - compared.length;
  const same = compared.length - slower.length - faster.length;
  const most = slower[0] === undefined ? '' : `, ${slower[0].name} the most`;
  const counts = [
    `${countText(slower.length)} of ${countText(groups.length)} kinds of spans became slower${most}`,
    `${countText(faster.length)} became faster`,
    `${countText(same)} took about the same`,
    ...(few > 0 ? [`${countText(few)} were too few to compare`] : []),
  ];
  return `${counts.join('; ')}.`;
}

function ratioWords({
  before,
  after,
  ratio,
}: Pick<ComparedGroup, 'before' | 'after' | 'ratio'>): string {
  if (before.count === 0) return 'too few to compare: only after';
  if (after.count === 0) return 'too few to compare: only before';
  if (ratio === null) return 'too few to compare';
  const { value, low, high } = ratio;
  if (low <= 1 && high >= 1) return `about the same (${percent(low)} to ${percent(high)})`;
  // The word says the direction, so the figures need no sign.
  const [word, least, most] =
    value > 1 ? (['slower', low, high] as const) : (['faster', high, low] as const);
  const [size, from, to] = [value, least, most].map((times) => percent(times).slice(1));
  return `${size!} ${word} (${from!} to ${to!})`;
}

/** `+4.2 %`, `−12 %`. */
function percent(times: number): string {
  const change = (times - 1) * 100;
  return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(Math.abs(change) < 10 ? 1 : 0)} %`;
}
