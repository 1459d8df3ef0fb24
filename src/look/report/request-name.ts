import type { GroupBy } from './report-shape.js';

const METHOD = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|QUERY|TRACE|HTTP)$/;

/** `GET /users/42`. */
export function nameWithPath({ name, path }: { name: string; path: string | null }): string {
  return path === null ? name : `${name} ${path}`;
}

/** What a row of the table of groups is called: a method alone says that no router has matched. */
export function groupTitle({ name }: { name: string }, by: GroupBy): string {
  return by === 'route' && METHOD.test(name) ? `${name} (no route)` : name;
}
