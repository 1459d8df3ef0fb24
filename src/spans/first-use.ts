/**
 * Until spans have a place, or anything is active: a span costs a look at this. `true` is compared with undefined in
 * one instruction, a boolean with its value in several.
 */
export let isUnused: true | undefined = true;

export function markUsed(): void {
  isUnused = undefined;
}
