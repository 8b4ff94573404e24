/**
 * Frames a page that is one HTML file and loads nothing else. Its data is in script elements that no browser runs; only the viewer and its
 * style are allowed to act, by their digests.
 */
import { createHash } from 'node:crypto';

export interface Viewer {
  /** The built script and style of a folder of `viewer`. */
  readonly viewer: string;
  readonly style: string;
  /** True for a page that asks its server for changes. */
  readonly follows?: boolean;
}

/** Returns everything before the data. */
export function beginDocument(title: string, { viewer, style, follows = false }: Viewer): string {
  const requests = follows ? "connect-src 'self'; " : '';
  const policy = `default-src 'none'; ${requests}script-src '${digest(viewer)}'; style-src '${digest(style)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript; everything it uses is in this file.</noscript>
<div id="page"></div>
`;
}

export function endDocument({ viewer }: Viewer): string {
  return `<script>${viewer}</script>
</body>
</html>
`;
}

export function dataElement(id: string, data: unknown): string {
  return `<script type="application/json" id="${id}">${inert(JSON.stringify(data))}</script>\n`;
}

/** Returns JSON in which no element can end or begin. */
export function inert(json: string): string {
  return json.replaceAll('<', '\\u003c');
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Control characters become spaces: a browser shows none, and whoever prints the page in a terminal runs none. */
function escaped(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');
}
