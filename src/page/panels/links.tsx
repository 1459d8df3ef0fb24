import type { ComponentChildren } from 'preact';
import type { ReportedRow } from '../../look/wire/panel-answers.js';
import { searchFor, searchText } from '../data/choice.js';
import { useApp } from '../state/app.js';

interface LinkProps {
  children: ComponentChildren;
  title?: string;
  isBad?: boolean;
  go: () => void;
}

/** A button within text. */
export function Link({ children, title, isBad = false, go }: LinkProps) {
  return (
    <button type="button" class={isBad ? 'link bad' : 'link'} title={title} onClick={go}>
      {children}
    </button>
  );
}

interface RowLinkProps {
  text: string;
  title: string;
  found: ReportedRow | undefined;
  panel: 'details' | 'trace';
}

/** Shows a row on the time line, and a panel about it: its trace, which then fills the time line, or its details. */
export function RowLink({ text, title, found, panel }: RowLinkProps) {
  const app = useApp();
  if (found === undefined) return <>{text}</>;
  const go = (): void => {
    void app.showRow(found.row, found.start, panel === 'trace');
    app.view.set({ panel });
  };
  return (
    <Link title={title} go={go}>
      {text}
    </Link>
  );
}

interface ErrorsLinkProps {
  where: readonly string[];
  text: string;
  /** The tooltip. */
  title?: string;
}

/** Shows the spans of values of `--where` in the table. */
export function ErrorsLink({ where, text, title = 'Show the spans that failed' }: ErrorsLinkProps) {
  const { view } = useApp();
  const go = (): void => {
    searchFor(view, searchText(where));
    view.set({ panel: 'table' });
  };
  return (
    <Link title={title} isBad go={go}>
      {text}
    </Link>
  );
}

/** Shows the spans of a trace in the table. */
export function ExampleLink({ trace }: { trace: string }) {
  return (
    <ErrorsLink where={[`trace=${trace}`]} text={trace} title="Show the spans of this trace" />
  );
}

/** Says what is searched for, and clears it. */
export function SearchNote({ what, where }: { what: string; where: string }) {
  const { view } = useApp();
  if (where === '') return null;
  const clear = (): void => {
    searchFor(view, '');
  };
  return (
    <>
      {' '}
      {what}that match <code>{where}</code>{' '}
      <button type="button" onClick={clear}>
        Clear search
      </button>
    </>
  );
}
