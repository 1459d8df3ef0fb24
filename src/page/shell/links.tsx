import type { ComponentChildren } from 'preact';
import { FIND_TEXT, searchFor, searchText } from '../data/choice.js';
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

interface ErrorsLinkProps {
  where: readonly string[];
  text: string;
  /** The tooltip. */
  title?: string;
}

/** Lists the spans of values of `--where`. */
export function ErrorsLink({ where, text, title = 'Show the spans that failed' }: ErrorsLinkProps) {
  const { navigate } = useApp();
  const go = (): void => {
    navigate('find', { parameters: { [FIND_TEXT]: searchText(where) } });
  };
  return (
    <Link title={title} isBad go={go}>
      {text}
    </Link>
  );
}

/** Shows a trace by its id. */
export function ExampleLink({ trace, text = trace }: { trace: string; text?: string }) {
  const { navigate } = useApp();
  const go = (): void => {
    navigate('trace', { id: trace, row: undefined, key: undefined });
  };
  return (
    <Link title="Show its trace" go={go}>
      {text}
    </Link>
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
