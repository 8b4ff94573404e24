/** The built server in a process of its own, and how a program talks to it. */
import type { JournalEvent } from '../../journal/event.js';
import { projectFolder, startCli, type CliProcess } from './cli.js';

export interface Served {
  readonly url: string;
  readonly folder: string;
  readonly child: CliProcess;
  readonly stderr: () => string;
  get(path: string, headers?: { readonly [name: string]: string }): Promise<Answered>;
  post(path: string, body?: unknown, headers?: { readonly [name: string]: string }): Promise<Answered>;
  /** Sends a pipeline and gives its id. */
  send(dot: string, more?: object): Promise<string>;
  /** Repeats the request until the response is as expected. */
  until(path: string, isWanted: (body: never) => boolean): Promise<never>;
  events(id: string, lastEventId?: number): AsyncGenerator<Frame>;
  /** Resolves with the exit status, undefined after a signal. */
  end(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<number | undefined>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when it is no JSON. */
  readonly body: never;
}

export interface Frame {
  readonly id: number;
  readonly type: string;
  readonly event: JournalEvent;
}

/** Ends what waits in vain, before the test itself is. */
const PATIENCE_MS = 50_000;

export interface ServeOptions {
  readonly folder?: string;
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

export async function serve({ folder, args = [], env = {} }: ServeOptions = {}): Promise<Served> {
  const cwd = folder ?? (await projectFolder());
  const child = startCli(['serve', '--port', '0', '--json', ...args], { cwd, env });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  const gone = new Promise<number | undefined>((resolve) => child.on('close', (status) => resolve(status ?? undefined)));
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    void gone.then((status) => reject(new Error(`the server ended with ${status}: ${said}`)));
  });
  const { port } = JSON.parse(line) as { readonly port: number };
  const url = `http://127.0.0.1:${port}`;
  const ask = async (path: string, options: RequestInit = {}): Promise<Answered> => answered(await fetch(url + path, options));
  const served: Served = {
    url,
    folder: cwd,
    child,
    stderr: () => said,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body, headers = {}) =>
      ask(path, {
        method: 'POST',
        headers,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    async send(dot, more = {}) {
      const { status, text, body } = await served.post('/pipelines', { dot, ...more });
      if (status !== 201) throw new Error(`${status} ${text}`);
      return (body as { readonly id: string }).id;
    },
    async until(path, isWanted) {
      for (const sinceMs = performance.now(); ;) {
        const { text, body } = await served.get(path);
        if (isWanted(body)) return body;
        if (performance.now() - sinceMs > PATIENCE_MS) throw new Error(`${path} stayed ${text}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    events: (id, lastEventId) =>
      framesOf(`${url}/pipelines/${id}/events`, lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
    end: (signal) => {
      child.kill(signal);
      return gone;
    },
  };
  return served;
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: (isJson ? JSON.parse(text) : undefined) as never };
}

async function* framesOf(url: string, headers: { readonly [name: string]: string }): AsyncGenerator<Frame> {
  const response = await fetch(url, { headers });
  if (response.status === 204) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const [, id, type, data] = /^id: (\d+)\nevent: (.+)\ndata: (.+)$/.exec(frame) ?? [];
      if (id !== undefined && type !== undefined && data !== undefined)
        yield { id: Number(id), type, event: JSON.parse(data) as JournalEvent };
    }
  }
}
