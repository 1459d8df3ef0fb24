import { loadAddon } from './load-addon.js';
import type { NativeCore } from './native-core.js';
import { plainCore } from './plain-core.js';
import { otherVersion, shared } from './process-state.js';
import { version } from './version.js';

/** The native core, and why there is none. */
interface LoadedCore {
  readonly core: NativeCore;
  /** Undefined: there is one. */
  readonly absence: string | undefined;
}

function loadCore(): LoadedCore {
  if (otherVersion !== undefined) {
    const reason = `version ${otherVersion} of tracewright is loaded already, this is ${version}`;
    return { core: plainCore(), absence: `${reason}; install one version only` };
  }
  const loaded = loadAddon();
  if ('absence' in loaded) return { core: plainCore(), absence: loaded.absence };
  return { core: loaded.addon as NativeCore, absence: undefined };
}

const loaded = shared('core.native', loadCore);

/**
 * The native core: the binary of this platform, or the one that was built here. All copies of the
 * package in a thread use that of the first. Where there is none, rings record nothing: see off.ts.
 */
export const { core } = loaded;

/** Why there is no native core; undefined: there is one. */
export const { absence } = loaded;
