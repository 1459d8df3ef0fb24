import type { ComparedGroup } from '../../../look/compare/comparison-shape.js';
import { comparisonTables } from '../../../look/compare/comparison-table.js';
import {
  comparisonSummary,
  differentServicesText,
  shortSideText,
} from '../../../look/compare/comparison-texts.js';
import {
  likelySides,
  type Run,
  runsOf,
  servicesOf,
  type Sides as SidesOfRuns,
} from '../../../look/report/recording/recording-sides.js';
import type { SourceAnswer } from '../../../look/wire/answers.js';
import type { CompareAnswer } from '../../../look/wire/view-answers.js';
import { choiceOf } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { setParameters } from '../../shell/address.js';
import { useParameter } from '../../state/parameter.js';
import { useStore } from '../../state/store.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { GroupBy, useGroupBy } from '../overview/group-by.js';
import { SearchNote } from '../../shell/links.js';
import { MatchesLink, TraceLink } from '../../shell/view-link.js';
import { useAnswer } from '../../data/use-answer.js';

/** Which spans became slower from one recording to another. */
export function CompareView() {
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
  return <Sides sources={sources ?? []} runs={runs} likely={likelySides(sources ?? [], runs)} />;
}

/** Names of runs in a parameter of the view: none has a line break. */
const BETWEEN = '\n';
/** As the parameter: no run is chosen. An empty parameter is not in the URL. */
const NOTHING = BETWEEN;

interface SidesProps {
  sources: readonly SourceAnswer[];
  runs: readonly Run[];
  likely: SidesOfRuns;
}

function Sides({ sources, runs, likely }: SidesProps) {
  const app = useApp();
  const { view } = app;
  const chosenOf = (text: string, otherwise: readonly string[]): string[] =>
    (text === '' ? otherwise : text.split(BETWEEN)).filter((name) =>
      runs.some((run) => run.name === name),
    );
  const before = chosenOf(useParameter('compare.before'), likely.before);
  const after = chosenOf(useParameter('compare.after'), likely.after);
  const where = useStore(view, (state) => choiceOf(state).where);
  const hasRange = useStore(view, ({ rangeFrom }) => rangeFrom !== undefined);
  const by = useGroupBy();
  const question = {
    before: sourcesOf(runs, before),
    after: sourcesOf(runs, after),
    where,
    by,
  };
  const isChosen = before.length > 0 && after.length > 0;
  const { answer, words, pending } = useAnswer<CompareAnswer | undefined>(
    JSON.stringify(question),
    (signal) =>
      isChosen
        ? app.server.post<CompareAnswer>('/data/compare', question, signal)
        : Promise.resolve(undefined),
  );
  const short = isChosen
    ? shortSideText(lengthOf(sources, question.before), lengthOf(sources, question.after))
    : undefined;
  const choose = (parameter: string, names: readonly string[]): void => {
    setParameters(view, { [parameter]: names.join(BETWEEN) || NOTHING });
  };
  return (
    <div aria-busy={pending}>
      <div class="sides">
        <SideChoice
          title="Before"
          runs={runs}
          chosen={before}
          onChoice={(names) => {
            choose('compare.before', names);
          }}
        />
        <SideChoice
          title="After"
          runs={runs}
          chosen={after}
          onChoice={(names) => {
            choose('compare.after', names);
          }}
        />
      </div>
      <GroupBy kinds={[]} words={words} />
      <SidesWords runs={runs} before={before} after={after} />
      <p class="choice-line">
        {hasRange && 'Whole recordings are compared, whatever range of time is chosen.'}
        <SearchNote what="Spans " where={where} />
      </p>
      {!isChosen || answer === undefined ? (
        isChosen && words === '' && <p>Reading …</p>
      ) : (
        <>
          {short !== undefined && <p>{short}</p>}
          <p>{comparisonSummary(answer.groups)}</p>
          <Changes answer={answer} />
        </>
      )}
    </div>
  );
}

function sourcesOf(runs: readonly Run[], names: readonly string[]): number[] {
  return runs.filter(({ name }) => names.includes(name)).flatMap(({ sources }) => sources);
}

/** How long some sources are together, in ns. */
function lengthOf(sources: readonly SourceAnswer[], numbers: readonly number[]): number {
  const own = sources.filter(({ number }) => numbers.includes(number));
  return Math.max(...own.map(({ end }) => end)) - Math.min(...own.map(({ begin }) => begin));
}

/** Warns of sides that are empty or do not match. */
function SidesWords({ runs, before, after }: SidesOfRuns & { runs: readonly Run[] }) {
  if (before.length === 0 || after.length === 0) {
    return (
      <p>
        No service was recorded twice, one time after the other. Choose recordings for both sides.
      </p>
    );
  }
  if (before.some((name) => after.includes(name))) {
    return <p role="alert">A recording is on both sides: it counts as before only.</p>;
  }
  const words = differentServicesText(servicesOf(runs, before), servicesOf(runs, after));
  return words === undefined ? null : <p role="alert">{words}</p>;
}

/** What changed, in the order of `compare`: what is gone or new, calls, times, failures. */
function Changes({ answer }: { answer: CompareAnswer }) {
  const { presence, calls, slower, faster, errors, memory, same, few } = comparisonTables(answer);
  return (
    <>
      <FiguresTable table={presence} cell={groupLink} />
      <FiguresTable
        table={calls}
        cell={({ group, calls: { route } }, column, text) =>
          column.title === 'by' && route !== null ? (
            <MatchesLink where={[`name=${route}`]} isOfAll>
              {text}
            </MatchesLink>
          ) : (
            groupLink(group, column, text)
          )
        }
      />
      <FiguresTable table={slower} cell={groupLink} />
      <FiguresTable table={faster} cell={groupLink} />
      <FiguresTable
        table={errors}
        cell={({ where, example, change }, { title }, text) => {
          if (title === 'count') {
            return (
              <MatchesLink where={where} isBad={change === 'new'} isOfAll>
                {text}
              </MatchesLink>
            );
          }
          return title === 'example' && example !== null ? <TraceLink id={example} /> : undefined;
        }}
      />
      <FiguresTable table={memory} />
      <FiguresTable table={same} cell={groupLink} />
      <FiguresTable table={few} cell={groupLink} />
    </>
  );
}

/** Lists the spans of a group. */
function groupLink({ name, targets }: ComparedGroup, { title }: { title: string }, text: string) {
  if (title !== 'span' && title !== 'call') return undefined;
  const where = [`name=${name}`, ...(targets.length > 0 ? ['kind=client'] : [])];
  return (
    <MatchesLink where={where} isOfAll>
      {text}
    </MatchesLink>
  );
}

interface SideChoiceProps {
  title: string;
  runs: readonly Run[];
  chosen: readonly string[];
  onChoice: (names: string[]) => void;
}

/** The recordings of one side of a comparison, one or several, in a list that opens. */
function SideChoice({ title, runs, chosen, onChoice }: SideChoiceProps) {
  const { recording } = useApp();
  const epoch = Number(BigInt(recording.answer?.epoch ?? '0') / 1_000_000n);
  const textOf = ({ name, service, begin }: Run): string => {
    const of = service !== undefined && !name.includes(service) ? ` ${service}` : '';
    return `${name}${of} ${new Date(epoch + begin / 1e6).toISOString().slice(11, 19)} UTC`;
  };
  const names = runs.filter(({ name }) => chosen.includes(name)).map(textOf);
  return (
    <details class="services">
      <summary>
        {title}: {names.join(', ') || 'choose a recording'}
      </summary>
      <fieldset>
        <legend class="spoken">{title}</legend>
        {runs.map((run) => (
          <label key={run.name}>
            <input
              type="checkbox"
              checked={chosen.includes(run.name)}
              onChange={({ currentTarget }) => {
                const others = chosen.filter((each) => each !== run.name);
                onChoice(currentTarget.checked ? [...others, run.name] : others);
              }}
            />
            {textOf(run)}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
