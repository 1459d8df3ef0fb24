import type { Timing } from '../../../heph/write/event-stream.js';
import { callAttributes } from '../calls.js';
import type { Call, CallRecorder, CallTarget } from '../calls.js';
import { ERROR_TYPE, STATUS_CODE } from '../conventions.js';
import type { SpanStream } from '../span-stream.js';
import { redactedAttributes } from './redacted-attributes.js';

/** Records each outgoing request as an event of its own, without ids. */
export class FlatCallRecorder implements CallRecorder {
  readonly #output: SpanStream;
  readonly #description: string;

  /** @param description of the events: `http client`, `fetch`. */
  constructor(output: SpanStream, description: string) {
    this.#output = output;
    this.#description = description;
  }

  start(target: CallTarget): Call {
    return new FlatCall(
      this.#output,
      this.#description,
      redactedAttributes(callAttributes(target)),
    );
  }
}

class FlatCall implements Call {
  readonly #output: SpanStream;
  readonly #description: string;
  readonly #attributes: Record<string, string | number>;
  readonly #timing: Timing | undefined;
  #open = true;

  constructor(
    output: SpanStream,
    description: string,
    attributes: Record<string, string | number>,
  ) {
    this.#output = output;
    this.#description = description;
    this.#attributes = attributes;
    this.#timing = output.stream.startTrace();
  }

  answered(status: number): void {
    this.#add({ [STATUS_CODE]: status });
    if (status >= 400) this.#add({ [ERROR_TYPE]: String(status) });
  }

  #add(attributes: Record<string, string | number>): void {
    Object.assign(this.#attributes, redactedAttributes(attributes));
  }

  end(failure?: string): void {
    if (!this.#open) return;
    this.#open = false;
    if (failure !== undefined) this.#add({ [ERROR_TYPE]: failure });
    this.#output.stream.finishTrace(
      this.#timing,
      this.#description,
      this.#attributes,
      this.#output.nextSubstream(),
    );
  }
}
