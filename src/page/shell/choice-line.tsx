import { choiceOf } from '../data/choice.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { SearchNote } from './links.js';

/** Says which spans a list is about, and takes the search off. */
export function ChoiceLine({ what }: { what: string }) {
  const { view } = useApp();
  const where = useStore(view, (state) => choiceOf(state).where);
  const hasRange = useStore(view, ({ rangeFrom }) => rangeFrom !== undefined);
  return (
    <p class="choice-line">
      {what}
      <SearchNote what="" where={where} />
      {hasRange ? ' in the range' : where === '' && ' of the whole recording'}
    </p>
  );
}
