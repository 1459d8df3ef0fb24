import { countText, rateText } from '../units.js';
import type { Timeline } from '../report-shape.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';

const HEIGHT = 100;

/** Spans by the time of their start; the failed ones in another colour. */
export function stripPicture({ count, errors, width }: Timeline): Html {
  const most = Math.max(1, ...count);
  const bars = count.map((all, at) => {
    if (all === 0) return markup``;
    const failed = errors[at]!;
    const height = Math.max(1.5, (all / most) * HEIGHT);
    const bad = failed === 0 ? 0 : Math.max(1.5, (failed / all) * height);
    const title = `${countText(all)}, ${rateText(all / (width / 1e9))}, ${countText(failed)} failed`;
    const badBar =
      bad === 0
        ? ''
        : markup`<rect
            class="badbar"
            x="${at}"
            y="${(HEIGHT - bad).toFixed(1)}"
            width="0.9"
            height="${bad.toFixed(1)}"
          />`;
    return markup`<g
      ><title>${title}</title
      ><rect
        class="bar"
        x="${at}"
        y="${(HEIGHT - height).toFixed(1)}"
        width="0.9"
        height="${height.toFixed(1)}"
      />${badBar}</g
    >`;
  });
  return markup`<svg
    viewBox="0 0 ${count.length} ${HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="Spans over time"
  >
    <rect class="ground" width="${count.length}" height="${HEIGHT}" />
    ${bars}
  </svg>`;
}
