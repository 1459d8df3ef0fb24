import { useRef } from 'preact/hooks';
import {
  isBeforeAndAfter,
  likelySides,
  periodsOf,
  runsOf,
} from '../../../look/report/recording/recording-sides.js';
import { OVERVIEW_QUESTION, type ReportAnswer } from '../../../look/wire/view-answers.js';
import { choiceFields, scopeOf, shownPeriod } from '../../data/choice.js';
import { useAnswer } from '../../data/use-answer.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { GroupBy, useGroupBy } from './group-by.js';
import { Recordings } from './recordings.js';
import { ReportFigures } from './report-figures.js';

/** The figures of `tracewright report`, of the range and the services. */
export function OverviewView() {
  const app = useApp();
  const by = useGroupBy();
  const choice = useStore(app.view, (state) => JSON.stringify(scopeOf(state)));
  const hasFigures = useRef(false);
  const { answer, words, pending } = useAnswer(`${choice} ${by}`, async (signal) => {
    const ask = (grouping: string): Promise<ReportAnswer> => {
      const fields = {
        ...choiceFields(scopeOf(app.view.value)),
        ...OVERVIEW_QUESTION,
        by: grouping,
      };
      return app.server.json<ReportAnswer>('/data/report', fields, signal);
    };
    let fault = '';
    const report = await ask(by).catch((error: unknown) => {
      // Figures that are there stay; at first there are those without the grouping.
      if (by === '' || signal.aborted || hasFigures.current) throw error;
      fault = (error as Error).message;
      return ask('');
    });
    hasFigures.current = true;
    return { ...report, fault };
  });
  const fault = words === '' ? (answer?.fault ?? '') : words;
  const groupBy = <GroupBy kinds={['route', 'name', 'service']} words={fault} />;
  return (
    <div aria-busy={pending}>
      <CompareHint isPending={pending} />
      {answer === undefined ? (
        words === '' ? (
          <p>Reading …</p>
        ) : (
          groupBy
        )
      ) : (
        <ReportFigures
          report={answer.report}
          rows={answer}
          onRange={(from, to) => {
            const { rangeFrom = 0 } = app.view.value;
            app.view.set({ rangeFrom: rangeFrom + from, rangeTo: rangeFrom + to });
          }}
        >
          {groupBy}
        </ReportFigures>
      )}
      <section id="recordings" aria-label="Recordings">
        <Recordings report={answer?.report} />
      </section>
    </div>
  );
}

/** A report of both sides of a comparison together says little. */
function CompareHint({ isPending }: { isPending: boolean }) {
  const { recording, view, navigate } = useApp();
  const sources = useStore(recording.store, ({ answer }) => answer?.sources) ?? [];
  const rangeFrom = useStore(view, (state) => state.rangeFrom);
  const rangeTo = useStore(view, (state) => state.rangeTo);
  const runs = runsOf(sources);
  const sides = likelySides(sources, runs);
  if (!isBeforeAndAfter(runs, sides)) return null;
  const { before, after } = sides;
  const shown = shownPeriod(periodsOf(sources), { rangeFrom, rangeTo });
  return (
    <p>
      {isPending
        ? ''
        : shown === undefined
          ? 'There are two recordings of the same services.'
          : `These are the figures of ${shown.name} alone: the line above has the other recordings.`}{' '}
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
