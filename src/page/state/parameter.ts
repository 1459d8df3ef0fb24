import { useApp } from './app.js';
import { useStore } from './store.js';

/** A parameter of the view; empty: it is not set. */
export function useParameter(name: string): string {
  const { view } = useApp();
  return useStore(view, ({ parameters }) => parameters[name] ?? '');
}
