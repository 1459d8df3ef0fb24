import { searchFor, searchText } from '../../data/choice.js';
import { useApp } from '../../state/app.js';

/** Shows the failed spans of values of `--where` in the table. */
export function ErrorsLink({ where, text }: { where: readonly string[]; text: string }) {
  const { view } = useApp();
  return (
    <button
      type="button"
      class="link bad"
      title="Show the spans that failed"
      onClick={() => {
        searchFor(view, searchText(where));
        view.set({ panel: 'table' });
      }}
    >
      {text}
    </button>
  );
}
