/** What else traces the thread: an SDK that the program has registered after the hook. */
export const otherTracing = {
  /** Whether it decides about the headers of outgoing requests: two senders would send two traces. */
  isRegistered: false,
};
