import { version } from '../core/version.js';

/** What `ovni.lib` contains: which library wrote the stream. The emulator wants both keys. */
export const library = { version, commit: 'tracewright' } as const;
