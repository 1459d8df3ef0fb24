import type { FunctionComponent } from 'preact';

/**
 * A view below the time line. Add one: a folder or file here that exports a `Panel`, and its line in
 * panel-host.tsx. It reads the page through `useApp()`.
 */
export interface Panel {
  /** In the URL, and before the dot of its parameters there. */
  id: string;
  /** On its tab. */
  title: string;
  /** The question that it answers: the tooltip of its tab. */
  question?: string;
  /** A key that opens it, anywhere outside of a field for text. */
  key?: string;
  Content: FunctionComponent;
}
