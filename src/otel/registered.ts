import { shared } from '../core/process-state.js';
import type { TracewrightProvider } from './provider.js';

/** The provider of `register`, or of the hook, that serves the API: one for all copies of this package in the thread. */
export const registered = shared<{ provider: TracewrightProvider | undefined }>(
  'otel.registered',
  () => ({ provider: undefined }),
);
