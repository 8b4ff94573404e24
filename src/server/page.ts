/** Serves the page for people: three files, which load nothing from other servers. */
import type { HttpResponse, HttpRequest } from '../world/http.js';
import { textResponse } from './responses.js';

/** The built files of `viewer/serve`. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:', // the empty icon
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>mlld</title>
<link rel="stylesheet" href="/page.css">
<link rel="icon" href="data:,">
<script src="/page.js" defer></script>
</head>
<body>
<noscript>This page needs JavaScript. <code>mlld journal list</code> shows the same runs.</noscript>
</body>
</html>
`;

/** Returns undefined when the request is not for a file of the page. */
export function pageResponse({ method, path }: HttpRequest, { script, style }: PageFiles): HttpResponse | undefined {
  if (method !== 'GET') return undefined;
  // The page of a run, that of the team and the start form have addresses of their own; behind the `#` is what is shown of the run.
  switch (path === '/start' || path === '/team' || /^(?:\/team)?\/runs\/[\w-]+$/.test(path) ? '/' : path) {
    case '/':
      return textResponse(200, 'text/html; charset=utf-8', HTML, { 'content-security-policy': POLICY });
    case '/page.js':
      return textResponse(200, 'text/javascript; charset=utf-8', script);
    case '/page.css':
      return textResponse(200, 'text/css; charset=utf-8', style);
    default:
      return undefined;
  }
}
