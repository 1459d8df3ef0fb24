/**
 * Until spans have a target, or a context is active. A span that is started before checks only this. V8 compares
 * `true` and undefined in one instruction, and a boolean in several.
 */
export let isUnused: true | undefined = true;

export function markUsed(): void {
  isUnused = undefined;
}
