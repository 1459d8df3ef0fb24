import type { ComponentChildren } from 'preact';
import { searchFor } from '../data/choice.js';
import { useApp } from '../state/app.js';
import { clearRange } from '../time-line/navigation.js';

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

/** Makes all views about the whole time again. */
export function ClearRange() {
  const app = useApp();
  return (
    <button
      type="button"
      onClick={() => {
        clearRange(app);
      }}
    >
      Clear range
    </button>
  );
}
