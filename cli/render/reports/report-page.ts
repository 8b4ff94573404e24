/**
 * Makes a report one HTML file that loads nothing else. Data of the run is in script elements that no browser runs, and the viewer
 * puts it on the page as text; only the viewer and its style are allowed to act, by their digests.
 */
import { createHash } from 'node:crypto';
import type { RunDiff } from '../../../src/api/reports/diff.js';
import type { ReportData } from '../../../src/api/reports/timeline.js';

export interface ReportParts {
  readonly data: ReportData;
  /** A line of JSON for each span. */
  readonly details: readonly string[];
  readonly diff: RunDiff | undefined;
  readonly viewer: string;
  readonly style: string;
}

export function* reportPage({ data, details, diff, viewer, style }: ReportParts): Generator<string> {
  const policy = `default-src 'none'; script-src '${digest(viewer)}'; style-src '${digest(style)}'; base-uri 'none'; form-action 'none'`;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(`${data.name} ${data.run}`)}</title>
<style>${style}</style>
</head>
<body>
<noscript>This report needs JavaScript; everything it uses is in this file.</noscript>
<script type="application/json" id="data">${inert(JSON.stringify(data))}</script>
<script type="application/json" id="diff">${inert(JSON.stringify(diff ?? null))}</script>
<script type="application/json" id="details">`;
  for (const line of details) yield `${inert(line)}\n`;
  yield `</script>
<script>${viewer}</script>
</body>
</html>
`;
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** JSON in which no element can end or begin. */
function inert(json: string): string {
  return json.replaceAll('<', '\\u003c');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
