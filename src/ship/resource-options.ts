import { entryOf } from '../core/map-entries.js';
import { outOfRange } from '../core/errors.js';
import type { RecordedAttributes, RecordedResource } from '../spans/span-record.js';

/** Variables by which a pod's description passes on what Kubernetes knows of it. */
const DOWNWARD: Readonly<Record<string, string>> = {
  K8S_NAMESPACE_NAME: 'k8s.namespace.name',
  K8S_NODE_NAME: 'k8s.node.name',
  K8S_POD_NAME: 'k8s.pod.name',
  K8S_POD_UID: 'k8s.pod.uid',
  K8S_CONTAINER_NAME: 'k8s.container.name',
  K8S_CLUSTER_NAME: 'k8s.cluster.name',
};

/**
 * Attributes that are added to each resource: of Kubernetes' variables, and of the command line.
 *
 * @param given `name=value` each.
 * @throws TracewrightError for one without a name.
 */
export function resourceOfOptions(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): RecordedAttributes {
  const attributes: RecordedAttributes = {};
  for (const [variable, name] of Object.entries(DOWNWARD)) {
    const value = env[variable];
    if (value !== undefined && value !== '') attributes[name] = value;
  }
  for (const each of given) {
    const at = each.indexOf('=');
    if (at < 1) {
      throw outOfRange('--resource', each, 'NAME=VALUE');
    }
    attributes[each.slice(0, at)] = each.slice(at + 1);
  }
  return attributes;
}

/** Resources of traces, with the attributes that were given: the same object for all spans of one. */
export class FullResources {
  readonly #given: RecordedAttributes;
  readonly #full = new WeakMap<RecordedResource, RecordedResource>();

  constructor(given: RecordedAttributes) {
    this.#given = given;
  }

  of(own: RecordedResource): RecordedResource {
    return entryOf(this.#full, own, () => ({
      ...own,
      attributes: { ...own.attributes, ...this.#given },
    }));
  }
}
