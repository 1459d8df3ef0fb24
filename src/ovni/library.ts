import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/** What stands under `ovni.lib`: which library wrote the stream. The emulator wants both keys. */
export const library = { version, commit: 'tracewright' } as const;
