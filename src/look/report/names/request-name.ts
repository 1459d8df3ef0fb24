import { HTTP } from '../../../spans/read/system-of.js';
import { METHODS, OTHER_METHOD_NAME } from '../../../spans/conventions.js';
import type { GroupBy } from '../shape/report-shape.js';

/** Whether a request is named by its method alone: it has no route, or its name says none. */
export function isMethod(name: string): boolean {
  return METHODS.includes(name) || name === OTHER_METHOD_NAME;
}

/** `GET /users/42`. */
export function nameWithPath({ name, path }: { name: string; path: string | null }): string {
  return path === null ? name : `${name} ${path}`;
}

/** `GET (redis)`: a command that is called as a method of HTTP. */
export function nameWithSystem({
  name,
  system,
}: {
  name: string;
  system?: string | null | undefined;
}): string {
  const isMistakable = isMethod(name) && system != null && system !== HTTP;
  return isMistakable ? `${name} (${system})` : name;
}

/** `GET stock:8080`. */
export function nameWithTarget(span: {
  name: string;
  target: string | null;
  system?: string | null | undefined;
}): string {
  const { target } = span;
  return target === null ? nameWithSystem(span) : `${span.name} ${target}`;
}

/** `GET /orders/:id`, `GET /orders/42` without a route, `GET stock:8080` */
export function nameWithDetail(span: {
  name: string;
  path: string | null;
  target: string | null;
  system?: string | null | undefined;
}): string {
  return span.path === null ? nameWithTarget(span) : nameWithPath(span);
}

/** Targets of a name that are named. */
const MOST_TARGETS = 2;

/** `GET stock:8080, users:8080` of several calls. */
export function nameWithTargets({
  name,
  targets,
  system,
}: {
  name: string;
  targets: readonly string[];
  system?: string | null | undefined;
}): string {
  if (targets.length === 0) return nameWithSystem({ name, system });
  const others = targets.length - MOST_TARGETS;
  const rest = others > 0 ? ` and ${others} more` : '';
  return `${name} ${targets.slice(0, MOST_TARGETS).join(', ')}${rest}`;
}

/** ` of shop`, or nothing without a service. */
export function ofService(service: string | null): string {
  return service === null ? '' : ` of ${service}`;
}

/** Names a row of the table of groups. A method alone gets a remark that no router has matched. */
export function groupTitle(
  group: { name: string; system?: string | null | undefined },
  by: GroupBy,
): string {
  const title = nameWithSystem(group);
  return by === 'route' && isMethod(title) ? `${title} (no route)` : title;
}
