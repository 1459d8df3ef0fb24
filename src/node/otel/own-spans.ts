import type { LibrarySettings } from '../library-settings.js';
import { programDependencies } from './program-dependencies.js';

/** Packages that make spans of a library by the OpenTelemetry API, if the program has them. */
const PACKAGES: Readonly<Record<string, string>> = { ai: '@ai-sdk/otel' };

/** Whether the program has a library's own spans, and did not name the library for ours. */
export function recordsItself(library: string, { named }: LibrarySettings): boolean {
  const name = PACKAGES[library];
  return name !== undefined && !named.includes(library) && programDependencies().includes(name);
}
