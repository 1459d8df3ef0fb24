import { writeSync } from 'node:fs';
import { valueOf } from '../../core/settings/value-of.js';
import type { TextMapPropagator } from '@opentelemetry/api';
import { isMainThread } from '../../core/system-thread.js';
import { programFormat } from '../../spans/context/header-format.js';
import { reasonOf, warn } from '../warning.js';
import { otherTracing } from './other-tracing.js';
import type { ServedParts } from './served-parts.js';
import type { Winner } from './redirected-tracers.js';
import type { GlobalApi } from './first-look.js';
import { YieldingApi } from './yielding-api.js';
import type { Part, Parts } from './yielding-api.js';

/** Serves the OpenTelemetry API of this thread, until another provider registers. */
export class OpenTelemetry {
  #served: ServedParts | undefined;
  #failed = false;
  #isReplaced = false;
  readonly #whenReplaced: () => void;

  /**
   * Takes the API's global registration.
   *
   * @param present what is registered already, and is none of ours.
   * @param whenReplaced called when another registration has taken it.
   */
  constructor(present: GlobalApi, whenReplaced: () => void) {
    this.#whenReplaced = whenReplaced;
    const logger = present['diag'] === undefined ? wantedLogger() : undefined;
    const others = logger === undefined ? present : { ...present, diag: logger };
    new YieldingApi(
      {
        parts: () => this.#parts(),
        callerVersion: (setter) => {
          const { registeringVersion } =
            require('./registering-copy.js') as typeof import('./registering-copy.js');
          return registeringVersion(setter);
        },
        isOwn: (instance) => apiGlobals().isOwn(instance),
        joined: (part, api) => {
          // It may have a sampler.
          if (part === 'trace') this.#served?.tracers.redirect(() => providerOf(api));
        },
        replaced: (part, api) => {
          this.#replaced(part, api);
        },
        refused: (part) => {
          warn(
            `a registration of OpenTelemetry's ${part} API failed: its copy of the API does not say which version it is; TRACEWRIGHT_OTEL=off leaves it to that copy`,
          );
        },
      },
      others,
    );
  }

  #parts(): Parts | undefined {
    if (this.#served === undefined && !this.#failed) {
      try {
        const { serveParts } = require('./served-parts.js') as typeof import('./served-parts.js');
        this.#served = serveParts();
      } catch (error) {
        this.#failed = true;
        warn(`spans of the OpenTelemetry API are not recorded: ${reasonOf(error)}`);
      }
    }
    return this.#served?.parts;
  }

  #replaced(part: Part, api: GlobalApi): void {
    if (this.#isReplaced) return;
    if (part === 'propagation') {
      usePropagator(api['propagation']);
      return;
    }
    this.#isReplaced = true;
    programFormat.format = undefined;
    this.#served?.leave(() => providerOf(api));
    otherTracing.isRegistered = true;
    this.#whenReplaced();
    announce();
  }
}

/** A logger of the level that `OTEL_LOG_LEVEL` names. */
function wantedLogger(): object | undefined {
  if ((process.env['OTEL_LOG_LEVEL'] ?? '') === '') return undefined;
  const { levelledLogger } =
    require('../../otel/log-level.js') as typeof import('../../otel/log-level.js');
  return levelledLogger();
}

/** The program's propagator makes the headers of the hook's requests, too. */
function usePropagator(propagator: unknown): void {
  const { formatOfPropagator } =
    require('../../otel/program-propagator.js') as typeof import('../../otel/program-propagator.js');
  try {
    programFormat.format = formatOfPropagator(propagator as TextMapPropagator);
  } catch (error) {
    warn(`requests have no headers of the program's propagator: ${reasonOf(error)}`);
  }
}

function apiGlobals(): typeof import('../../otel/api-globals.js') {
  return require('../../otel/api-globals.js') as typeof import('../../otel/api-globals.js');
}

function providerOf(api: GlobalApi): ReturnType<Winner> {
  return api['trace'] as ReturnType<Winner>;
}

function announce(): void {
  if (!isMainThread || valueOf('QUIET') === true) return;
  try {
    writeSync(
      2,
      'tracewright: the program has registered another OpenTelemetry SDK, which gets the spans of the API\n',
    );
  } catch {
    // Standard error is closed.
  }
}
