import type { TracerProvider } from '@opentelemetry/api';

/** What copies of the API register: it passes everything on to a provider. */
interface ProxyProvider {
  _delegate?: TracerProvider;
  getDelegate(): TracerProvider;
  setDelegate(provider: TracerProvider): void;
}

function isProxy(instance: unknown): instance is ProxyProvider {
  if (typeof instance !== 'object' || instance === null) return false;
  const { getDelegate, setDelegate } = instance as Partial<ProxyProvider>;
  return typeof getDelegate === 'function' && typeof setDelegate === 'function';
}

/**
 * Finds the provider that a copy of the API registers. Version 1.0 sets the provider of its proxy before it registers
 * the proxy. Later versions set it immediately afterwards.
 *
 * @param then called once, now or as soon as the proxy has its provider.
 */
export function findRegistered(instance: unknown, then: (provider: unknown) => void): void {
  if (!isProxy(instance)) {
    then(instance);
  } else if (instance._delegate !== undefined) {
    then(instance.getDelegate());
  } else {
    instance.setDelegate = (provider) => {
      Reflect.deleteProperty(instance, 'setDelegate');
      instance.setDelegate(provider);
      then(provider);
    };
  }
}
