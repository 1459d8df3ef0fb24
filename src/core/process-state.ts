import { version } from './version.js';

/**
 * State that the copies of this package in a thread share. A thread can have several: two in node_modules,
 * one that a loader such as tsx makes of the CommonJS files, one for each context of a test runner.
 *
 * They share live objects of the native core, so only copies of the same version join. To one of
 * another version nothing is shared, and it records nothing: see off.ts.
 */
interface SharedState {
  readonly version: string;
  readonly parts: Map<string, unknown>;
}

const KEY = Symbol.for('tracewright.state');

/**
 * A test runner gives its contexts their own `globalThis`, and Jest its own `process`. The objects of
 * Node's modules are the same in all contexts of a thread.
 */
const anchor = process.getBuiltinModule('node:diagnostics_channel') as { [KEY]?: SharedState };

function joinState(): SharedState {
  const known = anchor[KEY];
  if (known !== undefined) return known;
  const state: SharedState = { version, parts: new Map() };
  Object.defineProperty(anchor, KEY, { value: state });
  return state;
}

const state = joinState();

/** The version of the first copy in this thread, if this copy cannot share its state. */
export const otherVersion = state.version === version ? undefined : state.version;

const parts = otherVersion === undefined ? state.parts : new Map<string, unknown>();

/**
 * A part of the state that all copies of this package in the thread share.
 *
 * @param name of the part: the module that it belongs to, and what it is, such as `ovni.thread`.
 * @param make makes it, for the first copy that asks.
 */
export function shared<T>(name: string, make: () => T): T {
  if (!parts.has(name)) parts.set(name, make());
  return parts.get(name) as T;
}
