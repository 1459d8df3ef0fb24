import { mountedRoute } from '../../spans/route.js';

export interface KoaContext {
  readonly req?: unknown;
  readonly path?: unknown;
  /** As the request came: `koa-mount` rewrites its path. */
  readonly originalUrl?: unknown;
}

/** The prefixes of the mounts that a request has entered, outermost first. */
const mounts = new WeakMap<object, string[]>();

/** The prefix of the mounts that the request is in; empty: none. */
function mountPrefix(context: KoaContext): string {
  const prefixes = mounts.get(context);
  if (prefixes === undefined) return '';
  const [requested = ''] = String(context.originalUrl).split('?', 1);
  const path = String(context.path);
  // What a mounted application hands on has its whole path again.
  return prefixes.findLast((prefix) => isMounted(requested, prefix, path)) ?? '';
}

function isMounted(requested: string, prefix: string, path: string): boolean {
  if (path === '/' && requested === prefix) return true;
  return requested === (path.startsWith('/') ? prefix + path : `${prefix}/${path}`);
}

/** The pattern of a route within the mounts. */
export function mountedPattern(context: KoaContext, pattern: string): string {
  return mountedRoute(mountPrefix(context), pattern);
}

/**
 * A request enters a mount, and has the path that it has outside.
 *
 * @returns the prefix, with those of the mounts around it.
 */
export function enterMount(context: KoaContext, prefix: string): string {
  const whole = mountPrefix(context) + prefix.replace(/\/$/, '');
  const known = mounts.get(context);
  if (known === undefined) mounts.set(context, [whole]);
  else known.push(whole);
  return whole;
}
