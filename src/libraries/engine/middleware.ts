import type { Span } from '../../spans/span.js';

/** Whether a span is of a function that is not for a route. */
export function isMiddleware({ name }: Span): boolean {
  return name.startsWith('middleware');
}

const MAX_PATH = 256;
/** Paths of layers of routers that are no routes. */
const mounts = new WeakMap<object, string>();

/** Keeps the path of a layer that is not for a route. That of all paths says nothing. */
export function keepMount(layer: object, path: unknown): void {
  if (typeof path === 'string' && path !== '' && path !== '/') {
    mounts.set(layer, path.slice(0, MAX_PATH));
  }
}

/** The name of a middleware: its own, else the path where it is mounted. */
export function middlewareName(name: string | undefined, layer: unknown): string {
  const isLayer = typeof layer === 'object' && layer !== null;
  return `middleware ${name || (isLayer ? mounts.get(layer) : undefined) || ''}`.trimEnd();
}
