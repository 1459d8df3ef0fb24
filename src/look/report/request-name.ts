import { METHODS, OTHER_METHOD_NAME } from '../../spans/http-methods.js';
import type { GroupBy } from './report-shape.js';

/** Whether a request is named by its method alone: it has no route, or its name says none. */
export function isMethod(name: string): boolean {
  return METHODS.includes(name) || name === OTHER_METHOD_NAME;
}

/** `GET /users/42`. */
export function nameWithPath({ name, path }: { name: string; path: string | null }): string {
  return path === null ? name : `${name} ${path}`;
}

/** `GET stock:8080`. */
export function nameWithTarget({ name, target }: { name: string; target: string | null }): string {
  return target === null ? name : `${name} ${target}`;
}

/** `GET /orders/:id`, `GET /orders/42` without a route, `GET stock:8080` */
export function nameWithDetail(span: {
  name: string;
  path: string | null;
  target: string | null;
}): string {
  return span.target === null ? nameWithPath(span) : nameWithTarget(span);
}

/** Targets of a name that are named. */
const MOST_TARGETS = 2;

/** `GET stock:8080, users:8080` of several calls. */
export function nameWithTargets({
  name,
  targets,
}: {
  name: string;
  targets: readonly string[];
}): string {
  if (targets.length === 0) return name;
  const others = targets.length - MOST_TARGETS;
  const rest = others > 0 ? ` and ${others} more` : '';
  return `${name} ${targets.slice(0, MOST_TARGETS).join(', ')}${rest}`;
}

/** What a row of the table of groups is called: a method alone says that no router has matched. */
export function groupTitle({ name }: { name: string }, by: GroupBy): string {
  return by === 'route' && isMethod(name) ? `${name} (no route)` : name;
}
