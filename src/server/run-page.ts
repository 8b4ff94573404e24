/**
 * Serves the page of a run to a browser of this machine.
 *
 * RUN-PAGE-1 The address holds a random word: other users of this machine, and pages of other sites, do not know it.
 * RUN-PAGE-2 Each request reads the journal again, so that the page of a run that is still running can follow it. A page that has the
 *            version of what it shows in `If-None-Match` gets 304 while nothing has changed.
 */
import { randomBytes } from 'node:crypto';
import { messageOf } from '../errors.js';
import { listen, type HttpListener, type HttpResponse } from '../world/http.js';
import { checkAccess } from './access.js';
import { errorResponse } from './http-error.js';
import { textResponse } from './responses.js';

const HOST = '127.0.0.1';
const GRACE_MS = 1000;
const WORD_BYTES = 16;

const HEADERS = {
  'cache-control': 'no-store',
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "frame-ancestors 'none'",
};

export interface RunPageServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Makes the page that is served. */
export interface RunPageSource {
  /** Changes whenever the page does; it is quicker to make. */
  version(): Promise<string>;
  /** Returns the parts of the HTML file. */
  page(version: string): Promise<Iterable<string>>;
}

export async function serveRunPage({ version, page }: RunPageSource, log: (line: string) => void): Promise<RunPageServer> {
  const home = `/${randomBytes(WORD_BYTES).toString('hex')}/`; // RUN-PAGE-1
  const listener: HttpListener = await listen({
    host: HOST,
    port: 0,
    onBroken: (error) => log(`the page broke off: ${messageOf(error)}`),
    respond: async (request) => {
      try {
        checkAccess(request, { host: HOST, tokens: [] }, 'page');
        if (request.path !== home || request.method !== 'GET')
          return textResponse(404, 'text/plain; charset=utf-8', 'There is no such page.\n');
        const current = await version(); // RUN-PAGE-2
        if (request.headers['if-none-match'] === current) return { status: 304, headers: HEADERS };
        return htmlResponse(await page(current));
      } catch (error) {
        const refused = errorResponse(error);
        if (refused) return refused;
        const message = messageOf(error);
        log(`the page could not be made: ${message}`);
        return textResponse(500, 'text/plain; charset=utf-8', `The page could not be made: ${message}\n`);
      }
    },
  });
  return { url: `http://${HOST}:${listener.port}${home}`, close: () => listener.close(GRACE_MS) };
}

function htmlResponse(parts: Iterable<string>): HttpResponse {
  return {
    status: 200,
    headers: HEADERS,
    stream: async (write) => {
      for (const part of parts) await write(part);
    },
  };
}
