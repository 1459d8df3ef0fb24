/** Copies of `@opentelemetry/api` of every major version have their own global object. */
export const API_KEY = Symbol.for('opentelemetry.js.api.1');

/** The parts of OpenTelemetry's global object. */
export type GlobalApi = { version?: string } & Partial<Record<string, unknown>>;

type Global = { [API_KEY]?: GlobalApi };

/**
 * Calls `begin` when a copy of the API first looks at the global object: to register something, or to find a
 * provider. Until then nothing is loaded.
 *
 * @param begin registers globally. It must not throw.
 * @returns false: a provider or a context manager is registered already.
 */
export function onFirstLook(begin: (present: GlobalApi) => void): boolean {
  const present = (globalThis as Global)[API_KEY] ?? {};
  if (present['trace'] !== undefined || present['context'] !== undefined) return false;
  const leave = (): void => {
    Reflect.deleteProperty(globalThis, API_KEY);
    if (present.version !== undefined) (globalThis as Global)[API_KEY] = present;
  };
  Object.defineProperty(globalThis, API_KEY, {
    configurable: true,
    enumerable: true,
    get() {
      leave();
      begin(present);
      return (globalThis as Global)[API_KEY];
    },
    set(value: GlobalApi) {
      leave();
      (globalThis as Global)[API_KEY] = value;
    },
  });
  return true;
}
