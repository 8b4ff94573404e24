/** Makes the page of a run one HTML file that loads nothing else. The viewer puts the data of the run on the page as text. */
import type { RunDiff } from './diff.js';
import { beginDocument, dataElement, endDocument, inert, type Viewer } from './html-document.js';
import type { RunPage } from './page.js';

/** `viewer` and `style` are the built files of `viewer/report`. */
export interface PageParts extends RunPage, Viewer {
  readonly diff: RunDiff | undefined;
  /** The version of a page that its server serves anew while the run is running. */
  readonly version?: string;
}

export function* pageHtml({ data, details, diff, version, ...built }: PageParts): Generator<string> {
  yield beginDocument(`${data.report.name} ${data.report.run}`, { ...built, follows: version !== undefined });
  yield dataElement('data', data);
  yield dataElement('diff', diff ?? null);
  if (version !== undefined) yield dataElement('version', version);
  yield '<script type="application/json" id="details">';
  for (const span of details) yield `${inert(JSON.stringify(span))}\n`;
  yield '</script>\n';
  yield endDocument(built);
}
