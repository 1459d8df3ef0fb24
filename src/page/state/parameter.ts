import type { ViewState } from '../shell/address.js';
import { useApp } from './app.js';
import { type Store, useStore } from './store.js';

/** A parameter of the view; empty: it is not set. */
export function useParameter(name: string): string {
  const { view } = useApp();
  return useStore(view, ({ parameters }) => parameters[name] ?? '');
}

/** Sets parameters of the view; the others stay. */
export function setParameters(view: Store<ViewState>, changed: ViewState['parameters']): void {
  view.set({ parameters: { ...view.value.parameters, ...changed } });
}
