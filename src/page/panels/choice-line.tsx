import { choiceOf, searchFor } from '../data/choice.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { durationText } from '../../look/report/units.js';
import { clearRange } from '../time-line/navigation.js';

/** Says which spans a panel is about, and takes the conditions off. */
export function ChoiceLine({ what }: { what: string }) {
  const app = useApp();
  const where = useStore(app.view, (state) => choiceOf(state).where);
  const from = useStore(app.view, ({ rangeFrom }) => rangeFrom);
  const to = useStore(app.view, ({ rangeTo }) => rangeTo);
  const hasRange = from !== undefined && to !== undefined;
  return (
    <p class="choice-line">
      {what}
      {where !== '' && (
        <>
          {' '}
          that match <code>{where}</code>{' '}
          <button
            type="button"
            onClick={() => {
              searchFor(app.view, '');
            }}
          >
            Clear search
          </button>
        </>
      )}
      {hasRange && (
        <>
          {' '}
          in the selected {durationText(to - from)} from {durationText(from)} on{' '}
          <button
            type="button"
            onClick={() => {
              clearRange(app);
            }}
          >
            Clear range
          </button>
        </>
      )}
      {!hasRange && where === '' && ' of the whole recording'}
    </p>
  );
}
