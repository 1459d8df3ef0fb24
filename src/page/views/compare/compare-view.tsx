import type { ComparedGroup } from '../../../look/compare/comparison-shape.js';
import { comparedErrorTable, comparisonTable } from '../../../look/compare/comparison-table.js';
import {
  comparisonSummary,
  differentServicesText,
  ratioText,
} from '../../../look/compare/comparison-texts.js';
import {
  likelySides,
  type Run,
  runsOf,
  servicesOf,
  type Sides as SidesOfRuns,
} from '../../../look/report/recording/recording-sides.js';
import type { CompareAnswer } from '../../../look/wire/panel-answers.js';
import { choiceOf, searchFor } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { GroupBy, useGroupBy } from '../overview/group-by.js';
import { ErrorsLink, ExampleLink, Link, SearchNote } from '../../shell/links.js';
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
  return <Sides runs={runs} likely={likelySides(sources ?? [], runs)} />;
}

/** Names of runs in a parameter of the view: none has a line break. */
const BETWEEN = '\n';
/** As the parameter: no run is chosen. An empty parameter is not in the URL. */
const NOTHING = BETWEEN;

function Sides({ runs, likely }: { runs: readonly Run[]; likely: SidesOfRuns }) {
  const app = useApp();
  const { view } = app;
  const chosenOf = (text: string | undefined, otherwise: readonly string[]): string[] =>
    (text?.split(BETWEEN) ?? otherwise).filter((name) => runs.some((run) => run.name === name));
  const before = chosenOf(
    useStore(view, ({ parameters }) => parameters['compare.before']),
    likely.before,
  );
  const after = chosenOf(
    useStore(view, ({ parameters }) => parameters['compare.after']),
    likely.after,
  );
  const where = useStore(view, (state) => choiceOf(state).where);
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
  const choose = (parameter: string, names: readonly string[]): void => {
    const { parameters } = view.value;
    view.set({ parameters: { ...parameters, [parameter]: names.join(BETWEEN) || NOTHING } });
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
      <GroupBy kinds={[]} />
      <SidesWords runs={runs} before={before} after={after} />
      <p class="choice-line">
        <SearchNote what="Spans " where={where} />
      </p>
      {words !== '' && <p role="alert">{words}</p>}
      {!isChosen || answer === undefined ? (
        isChosen && words === '' && <p>Reading …</p>
      ) : (
        <>
          <p>{comparisonSummary(answer.groups)}</p>
          {answer.errors.types.length > 0 && (
            <FiguresTable
              table={comparedErrorTable(answer.errors)}
              cell={({ where, example }, { title }, text) => {
                if (title === 'count') return <ErrorsLink where={where} text={text} />;
                if (title !== 'example' || example === null) return undefined;
                return <ExampleLink trace={example} />;
              }}
            />
          )}
          <Groups groups={answer.groups} />
        </>
      )}
    </div>
  );
}

function sourcesOf(runs: readonly Run[], names: readonly string[]): number[] {
  return runs.filter(({ name }) => names.includes(name)).flatMap(({ sources }) => sources);
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

function Groups({ groups }: { groups: readonly ComparedGroup[] }) {
  const app = useApp();
  return (
    <FiguresTable
      table={comparisonTable(
        'A typical span: the geometric mean of the durations, with its 95 % confidence interval',
        groups,
        ratioText,
      )}
      cell={({ name, targets }, { title }, text) =>
        title === 'span' ? (
          <Link
            go={() => {
              const kind = targets.length > 0 ? ' kind=client' : '';
              searchFor(app.view, `name="${name}"${kind}`);
            }}
          >
            {text}
          </Link>
        ) : undefined
      }
    />
  );
}

interface SideChoiceProps {
  title: string;
  runs: readonly Run[];
  chosen: readonly string[];
  onChoice: (names: string[]) => void;
}

/** The recordings of one side of a comparison: one or several. */
function SideChoice({ title, runs, chosen, onChoice }: SideChoiceProps) {
  const { recording } = useApp();
  const epoch = Number(BigInt(recording.answer?.epoch ?? '0') / 1_000_000n);
  return (
    <fieldset class="side">
      <legend>{title}</legend>
      {runs.map(({ name, service, begin }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget }) => {
              const others = chosen.filter((each) => each !== name);
              onChoice(currentTarget.checked ? [...others, name] : others);
            }}
          />
          {name}
          <span class="quiet">
            {service !== undefined && !name.includes(service) && ` ${service}`}{' '}
            {new Date(epoch + begin / 1e6).toISOString().slice(11, 19)} UTC
          </span>
        </label>
      ))}
    </fieldset>
  );
}
