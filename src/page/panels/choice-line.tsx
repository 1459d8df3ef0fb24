import { choiceOf } from '../data/choice.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { durationText } from '../../look/report/measures/units.js';
import { clearRange } from '../time-line/navigation.js';
import { SearchNote } from './links.js';

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
      <SearchNote what="" where={where} />
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
