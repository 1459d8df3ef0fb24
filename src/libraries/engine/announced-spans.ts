import * as diagnostics from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { SpanValue } from '../../spans/attributes.js';
import type { ActiveContext } from '../../spans/context/active-context.js';
import type { Scope } from '../../spans/scope.js';
import type { SpanKind } from '../../spans/layout.js';
import { spans } from '../../spans/shared-spans.js';
import { REMOTE } from '../../spans/span.js';
import type { Span } from '../../spans/span.js';
import type { Announcement, FollowedSpan, LibraryOptions } from '../library.js';
import type { Attributes } from './attribute-names.js';
import { ConnectionContext } from './connection-context.js';
import { failureOf, markFailed } from './failure.js';
import type { LibraryGuard } from './library-guard.js';

const SAMPLED = 1;

/** Makes spans of what is published on one plain channel. */
export class AnnouncedSpans {
  readonly #announcement: Announcement;
  readonly #scope: Scope;
  readonly #options: LibraryOptions;
  readonly #guard: LibraryGuard;
  readonly #storage = spans.contextStorage();

  constructor(
    announcement: Announcement,
    scope: Scope,
    options: LibraryOptions,
    guard: LibraryGuard,
  ) {
    this.#announcement = announcement;
    this.#scope = scope;
    this.#options = options;
    this.#guard = guard;
  }

  subscribe(): void {
    diagnostics.subscribe(this.#announcement.channel, (message) => {
      this.record(message as object);
    });
  }

  record(message: object): void {
    if (this.#guard.on !== true) return;
    try {
      this.#record(message);
    } catch (error) {
      this.#guard.fail(error);
    }
  }

  #record(message: object): void {
    const announcement = this.#announcement;
    const context = this.#storage.getStore() as ActiveContext | undefined;
    const opener = context instanceof ConnectionContext ? context.opener : undefined;
    const parent = opener ?? context?.activeSpan;
    if (parent === undefined) {
      if (announcement.needsParent === true) return;
    } else if ((parent.flags & SAMPLED) === 0 && parent.state !== REMOTE) return;
    const description = announcement.describe(message, this.#options);
    if (description === undefined) return;
    const tookNs = announcement.tookNs?.(message);
    const { name, attributes } = description;
    const { kind } = announcement;
    const options = opener === undefined ? { kind } : { kind, parent: opener };
    const span = spans.startScopedSpan(this.#scope, name, attributes, options, tookNs);
    if (!span.recording) return;
    if (announcement.follow === undefined) {
      span.end();
      return;
    }
    announcement.follow(message, new Followed(span, kind, this.#scope, this.#options, this.#guard));
  }
}

class Followed implements FollowedSpan {
  readonly #span: Span;
  readonly #kind: SpanKind;
  readonly #scope: Scope;
  readonly #options: LibraryOptions;
  readonly #guard: LibraryGuard;
  /** Functions that are called when the span ends. */
  readonly #ends: (() => void)[] = [];

  constructor(
    span: Span,
    kind: SpanKind,
    scope: Scope,
    options: LibraryOptions,
    guard: LibraryGuard,
  ) {
    this.#span = span;
    this.#kind = kind;
    this.#scope = scope;
    this.#options = options;
    this.#guard = guard;
  }

  set(name: string, value: SpanValue): void {
    this.#span.set(name, value);
  }

  rename(name: string): void {
    this.#span.rename(name);
  }

  on(emitter: EventEmitter, event: string | symbol, listen: (...values: unknown[]) => void): void {
    const listener = (...values: unknown[]): void => {
      try {
        listen(...values);
      } catch (error) {
        this.#guard.fail(error);
      }
    };
    emitter.on(event, listener);
    this.#ends.push(() => emitter.off(event, listener));
  }

  part(name: string, attributes: Attributes, begins: 'now' | 'with it'): Followed {
    const whole = this.#span;
    const options = { kind: 'internal', parent: whole } as const;
    const tookNs = begins === 'with it' ? Infinity : 0;
    const span = spans.startScopedSpan(this.#scope, name, attributes, options, tookNs);
    const part = new Followed(span, 'internal', this.#scope, this.#options, this.#guard);
    this.#ends.push(() => {
      part.end();
    });
    return part;
  }

  end(failed?: { error: unknown }): void {
    for (const end of this.#ends.splice(0)) end();
    if (!this.#span.recording) return;
    if (failed !== undefined) {
      markFailed(this.#span, this.#kind, failureOf(failed.error), failed.error, this.#options);
    }
    this.#span.end();
  }
}
