/**
 * Makes the page of a run one HTML file that loads nothing else. Data of the run is in script elements that no browser runs, and the viewer
 * puts it on the page as text; only the viewer and its style are allowed to act, by their digests.
 */
import { createHash } from 'node:crypto';
import type { RunDiff } from './diff.js';
import type { RunPage } from './page.js';

export interface PageParts extends RunPage {
  readonly diff: RunDiff | undefined;
  /** The built files of `viewer/report`. */
  readonly viewer: string;
  readonly style: string;
}

export function* pageHtml({ data, details, diff, viewer, style }: PageParts): Generator<string> {
  const policy = `default-src 'none'; script-src '${digest(viewer)}'; style-src '${digest(style)}'; base-uri 'none'; form-action 'none'`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(`${data.report.name} ${data.report.run}`)}</title>
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript; everything it uses is in this file.</noscript>
<div id="page"></div>
<script type="application/json" id="data">${inert(JSON.stringify(data))}</script>
<script type="application/json" id="diff">${inert(JSON.stringify(diff ?? null))}</script>
<script type="application/json" id="details">`;
  for (const span of details) yield `${inert(JSON.stringify(span))}\n`;
  yield `</script>
<script>${viewer}</script>
</body>
</html>
`;
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Returns JSON in which no element can end or begin. */
function inert(json: string): string {
  return json.replaceAll('<', '\\u003c');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
