import { version } from '../core/version.js';

/** `ovni.lib` in the metadata: the library that wrote the stream. The emulator requires both keys. */
export const library = { version, commit: 'tracewright' } as const;
