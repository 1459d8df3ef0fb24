import { CORE_INTERFACE } from './core-interface.js';
import { loadAddon } from './load-addon.js';
import type { NativeCore } from './native-core.js';
import { otherVersion, shared } from './process-state.js';
import { version } from './version.js';

/**
 * Why an addon does not fit this code: an older binary next to newer files, for example. Undefined: it
 * fits.
 */
export function mismatchOf(addon: object): string | undefined {
  const { interface: found } = addon as Partial<NativeCore>;
  if (found !== CORE_INTERFACE) {
    return `its interface is ${found ?? 'older than 1'}, and must be ${CORE_INTERFACE}`;
  }
  return undefined;
}

/** The native core, and why there is none. */
interface LoadedCore {
  readonly core: NativeCore;
  /** Undefined: there is one. */
  readonly absence: string | undefined;
}

/** The version of the package that records in this process. */
const VERSION_NOTE = 'core.version';

/** The version that another thread of the process records with, if it is not this one. */
function versionOfProcess(core: NativeCore): string | undefined {
  if (core.claimNote(VERSION_NOTE)) core.putNote(VERSION_NOTE, version);
  const known = core.getNote(VERSION_NOTE);
  return known === '' || known === version ? undefined : known;
}

function loadCore(): LoadedCore {
  const without = (reason: string): LoadedCore => {
    const { plainCore } = require('./plain-core.js') as typeof import('./plain-core.js');
    return { core: plainCore(), absence: reason };
  };
  const different = (other: string) =>
    `version ${other} of tracewright is loaded already, this is ${version}; install one version only`;
  if (otherVersion !== undefined) return without(different(otherVersion));
  const loaded = loadAddon(mismatchOf);
  if ('absence' in loaded) return without(loaded.absence);
  const core = loaded.addon as NativeCore;
  const other = versionOfProcess(core);
  return other === undefined ? { core, absence: undefined } : without(different(other));
}

const loaded = shared('core.native', loadCore);

/**
 * The native core: the binary of this platform, or the one that was built here. All copies of the
 * package in a thread use that of the first. Where there is none, rings record nothing: see off.ts.
 */
export const { core } = loaded;

/** Why there is no native core; undefined: there is one. */
export const { absence } = loaded;
