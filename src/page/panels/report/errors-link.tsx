import { searchFor, searchText } from '../../data/choice.js';
import { useApp } from '../../state/app.js';

interface ErrorsLinkProps {
  where: readonly string[];
  text: string;
  /** What it shows. */
  title?: string;
}

/** Shows the spans of values of `--where` in the table. */
export function ErrorsLink({ where, text, title = 'Show the spans that failed' }: ErrorsLinkProps) {
  const { view } = useApp();
  return (
    <button
      type="button"
      class="link bad"
      title={title}
      onClick={() => {
        searchFor(view, searchText(where));
        view.set({ panel: 'table' });
      }}
    >
      {text}
    </button>
  );
}

/** Shows the spans of a trace in the table. */
export function ExampleLink({ trace }: { trace: string }) {
  return (
    <ErrorsLink where={[`trace=${trace}`]} text={trace} title="Show the spans of this trace" />
  );
}
