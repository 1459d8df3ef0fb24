/**
 * The OpenTelemetry API on tracewright/spans: what a program and its libraries record through `@opentelemetry/api`
 * becomes spans of Tracewright.
 *
 *     import { configure } from 'tracewright/spans';
 *     import { register } from 'tracewright/otel';
 *
 *     configure({ target: 'spans.heph' });
 *     register();
 *
 * `@opentelemetry/api` is not a dependency of this package: the program's own copy is used.
 *
 * @module otel
 */
export { TracewrightError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { ApiCopy } from './api-copies.js';
export { TracewrightContextManager } from './context-manager.js';
export type { AttachedContext } from './context-manager.js';
export type { FlushOptions } from './processor-timeout.js';
export { TracewrightProvider } from './provider.js';
export type { ProviderOptions, ProviderStats } from './provider.js';
export { register } from './register.js';
export type { ReadableEvent, ReadableScope, ReadableSpan } from './readable-span.js';
export type { SpanProcessor } from './span-processors.js';
export type { SamplerResult, SpanSampler } from './sampler.js';
export type { RegisterOptions, Registration } from './register.js';
