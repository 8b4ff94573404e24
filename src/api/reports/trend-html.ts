/** Makes the page over many runs one HTML file that loads nothing else. */
import { beginDocument, dataElement, endDocument, type Viewer } from './html-document.js';
import type { Trend } from './stats.js';

/** `viewer` and `style` are the built files of `viewer/trend`. */
export interface TrendPageParts extends Viewer {
  readonly trend: Trend;
}

export function trendHtml({ trend, ...built }: TrendPageParts): string {
  const title = `${trend.workflow}, ${trend.total.runs} runs`;
  return `${beginDocument(title, built)}${dataElement('data', trend)}${endDocument(built)}`;
}
