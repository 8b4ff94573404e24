/** The server of a page: answers requests on a loopback address in the order of its plan, and keeps what it was sent. */
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import path from 'node:path';

interface Reply {
  /** Answers requests of this path only, and all of them. */
  readonly path?: string;
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or what is sent as JSON. */
  readonly body?: unknown;
}

export interface Served {
  /** The last one is the answer to all further requests. */
  readonly replies: readonly Reply[];
  /** The file in the reader's folder that gets the body of each request as a line. */
  readonly keeps?: string;
}

export interface PageServer {
  readonly url: string;
  close(): void;
}

export async function serve({ replies, keeps }: Served, cwd: string): Promise<PageServer> {
  const ordered = replies.filter((reply) => reply.path === undefined);
  let answered = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (keeps !== undefined) appendFileSync(path.join(cwd, keeps), `${Buffer.concat(parts).toString('utf8')}\n`);
      const {
        status = 200,
        headers = {},
        body = '',
      } = replies.find((reply) => reply.path === request.url) ?? ordered[Math.min(answered++, ordered.length - 1)] ?? {};
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
