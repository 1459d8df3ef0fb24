import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { AppContext } from '../state/app.js';
import type { Target, ViewName } from './address.js';

interface ViewLinkProps {
  view: ViewName;
  target?: Target;
  title?: string;
  isBad?: boolean;
  children: ComponentChildren;
}

/** A link to a view; only its text in a report that is a file. */
export function ViewLink({ view, target = {}, title, isBad = false, children }: ViewLinkProps) {
  const app = useContext(AppContext);
  if (app === undefined) return <span class={isBad ? 'bad' : ''}>{children}</span>;
  return (
    <a
      class={isBad ? 'bad' : ''}
      href={app.href(view, target)}
      title={title}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        app.navigate(view, target);
      }}
    >
      {children}
    </a>
  );
}
