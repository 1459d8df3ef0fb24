import type { MessageColumns } from '../../look/wire/answers.js';
import type { CanvasColours } from '../theme/theme.js';
import { pixelOf } from './collect-boxes.js';
import type { Scale } from './collect-boxes.js';
import type { Line, TrackLine } from './lines.js';

/** Arrows from the send to the receive. */
export function drawMessages(
  context: CanvasRenderingContext2D,
  messages: MessageColumns | undefined,
  lines: readonly Line[],
  scale: Scale,
  top: number,
  colours: CanvasColours,
): void {
  if (messages === undefined || messages.sent.length === 0) return;
  const tracks = new Map<number, TrackLine>();
  for (const line of lines) if (line.kind === 'track') tracks.set(line.track.number, line);
  const middleOf = (track: number, lane: number): number | undefined => {
    const line = tracks.get(track);
    if (line === undefined) return undefined;
    return (
      top + line.y + line.nameHeight + (Math.min(lane, line.lanes - 1) + 0.5) * line.laneHeight
    );
  };
  context.save();
  context.beginPath();
  context.rect(scale.left, 0, scale.width, 1e5);
  context.clip();
  context.strokeStyle = colours.text;
  context.fillStyle = colours.text;
  context.lineWidth = 1;
  for (let at = 0; at < messages.sent.length; at++) {
    const from = middleOf(messages.fromTrack[at]!, messages.fromLane[at]!);
    const to = middleOf(messages.toTrack[at]!, messages.toLane[at]!);
    if (from === undefined || to === undefined) continue;
    const [x, end] = [pixelOf(scale, messages.sent[at]!), pixelOf(scale, messages.received[at]!)];
    if (end < scale.left || x > scale.left + scale.width) continue;
    drawArrow(context, x, from, end, to);
  }
  context.restore();
}

function drawArrow(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  endX: number,
  endY: number,
): void {
  const angle = Math.atan2(endY - y, endX - x);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(endX, endY);
  context.stroke();
  context.beginPath();
  context.moveTo(endX, endY);
  for (const side of [-0.4, 0.4]) {
    context.lineTo(endX - 7 * Math.cos(angle + side), endY - 7 * Math.sin(angle + side));
  }
  context.fill();
}
