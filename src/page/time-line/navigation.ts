import type { ViewState } from '../shell/address.js';
import type { App } from '../state/app.js';
import { isFollowing, shownWindow } from './time-line.js';

/** The smallest window, in ns. */
const LEAST = 100;
/** How far beyond the recording one may look, in windows: the last span keeps off the edge. */
const MARGIN = 0.02;

/** A window for the view, as far as there is something in it. */
export function windowAround(
  app: App,
  from: number,
  to: number,
): Pick<ViewState, 'from' | 'to' | 'follow'> {
  const length = lengthOf(app);
  const size = clampSize(length, to - from);
  const middle = (from + to) / 2;
  const first = Math.min(length - size * (1 - MARGIN), Math.max(-size * MARGIN, middle - size / 2));
  return { from: first, to: first + size, follow: false };
}

/** Shows a window. */
export function showWindow(app: App, from: number, to: number): void {
  app.view.set(windowAround(app, from, to));
}

function lengthOf({ recording }: App): number {
  return Math.max(1, recording.answer?.length ?? 1);
}

function clampSize(length: number, size: number): number {
  return Math.min(length * (1 + 2 * MARGIN), Math.max(LEAST, size));
}

/** The whole recording; a live one moves on again. */
export function showAll(app: App): void {
  app.view.set({ from: undefined, to: undefined, follow: true });
}

/** @param factor below 1: closer. @param at the time that stays where it is. */
export function zoom(app: App, factor: number, at: number): void {
  const { from, to } = shownWindow(app);
  const length = lengthOf(app);
  const size = clampSize(length, (to - from) * factor);
  if (isFollowing(app)) {
    // The end stays, so that the window goes on to follow it.
    app.view.set({ from: Math.max(0, length - size), to: length });
    return;
  }
  const share = (at - from) / (to - from);
  showWindow(app, at - share * size, at + (1 - share) * size);
}

/** @param share of the window; positive: later. */
export function pan(app: App, share: number): void {
  const { from, to } = shownWindow(app);
  const move = share * (to - from);
  showWindow(app, from + move, to + move);
}

/** Selects no range. */
export function clearRange({ view }: App): void {
  view.set({ rangeFrom: undefined, rangeTo: undefined });
}

/** Stops a live time line where it is. */
export function pause(app: App): void {
  app.view.set({ ...shownWindow(app), follow: false });
}
