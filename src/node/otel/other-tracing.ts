/** Other tracers of the thread. */
export const otherTracing = {
  /** Whether an SDK of the program is registered, before the hook or after it: contexts of the API are its own. */
  isRegistered: false,
};
