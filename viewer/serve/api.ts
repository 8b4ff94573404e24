/** Sends the requests of the page to its server. */
import type { JournalEvent } from '../../journal/event.js';
import type { PageData, SpanDetails } from '../report/model/page-model.js';
import type { PipelineStatus } from '../../src/session/pipeline/history/pipeline-status.js';

export type Status = Omit<PipelineStatus, 'id'> & { readonly id: string };

export interface Question {
  readonly id: string;
  readonly stage: string;
  readonly text: string;
  readonly options: readonly { readonly key: string; readonly label: string }[];
  readonly default: string | null;
}

/** Holds what the commands in flight of a run have written. */
export interface RunOutput {
  /** False: another process executes the run, or nobody does. */
  readonly executed_here: boolean;
  readonly commands: readonly CommandOutput[];
}

export interface CommandOutput {
  readonly op: string;
  readonly text: string;
  readonly is_cut: boolean;
  readonly is_withheld: boolean;
}

/** Describes a pipeline for the start form. */
export interface Startable {
  /** Empty when the pipeline can't be run. */
  readonly name: string;
  readonly goal: string;
  readonly dot: string;
  readonly inputs: readonly Input[];
  readonly diagnostics: readonly Finding[];
}

export interface Input {
  readonly key: string;
  readonly kind: 'integer' | 'number' | 'boolean' | 'text';
  readonly default: string;
  readonly secret: boolean;
}

export interface Finding {
  readonly severity: string;
  readonly message: string;
  readonly line: number;
  readonly fix?: string;
}

/** A pipeline of the project by its path, or one by its text. */
export type Pipeline = { readonly file: string } | { readonly dot: string };

/** `read`: this token sees everything, and can neither start, answer, resume nor cancel a run. */
export type Role = 'read' | 'run';

export interface Api {
  role(): Promise<Role>;
  /** Reads about all runs of the project: `team/requests.ts` has what. */
  readTeam<T>(path: string, signal: AbortSignal): Promise<T>;
  /** The paths of the project's pipelines. */
  files(): Promise<readonly string[]>;
  inputs(pipeline: Pipeline): Promise<Startable>;
  /** Returns the id of the run. */
  start(pipeline: Pipeline, settings: { readonly set: { readonly [key: string]: string }; readonly backend?: string }): Promise<string>;
  list(): Promise<readonly Status[]>;
  status(id: string): Promise<Status>;
  questions(id: string): Promise<readonly Question[]>;
  /** The page of a run without its drawing, and without the details of its operations. */
  page(id: string): Promise<PageData>;
  /** The details of all operations in the order of the page, or of one. */
  operations(id: string, op?: string): Promise<readonly (SpanDetails | null)[]>;
  graph(id: string): Promise<string>;
  output(id: string, signal: AbortSignal): Promise<RunOutput>;
  cancel(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  answer(id: string, question: string, value: string): Promise<void>;
  /**
   * Reports every event behind the number `after` once and in order; connects again when the connection breaks. Resolves when the run has
   * ended.
   */
  follow(id: string, after: string, onEvent: (event: JournalEvent, number: string) => void, signal: AbortSignal): Promise<void>;
}

export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const AGAIN_MS = 1000;

export function createApi(token: string | undefined): Api {
  const own: { readonly [name: string]: string } = token === undefined ? {} : { authorization: `Bearer ${token}` };

  async function request(path: string, options: RequestInit = {}): Promise<Response> {
    const response = await fetch(path, { ...options, headers: { ...own, ...(options.headers as typeof own) } });
    if (response.ok) return response;
    const { error } = (await response.json().catch(() => ({}))) as { readonly error?: { readonly message: string } };
    throw new ApiError(response.status, error?.message ?? response.statusText);
  }
  const read = async <T>(path: string): Promise<T> => (await (await request(path)).json()) as T;
  const send = async <T>(path: string, body: object): Promise<T> => {
    const response = await request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    return (await response.json()) as T;
  };
  const post = async (path: string, body: object): Promise<void> => void (await send(path, body));

  return {
    role: async () => (await read<{ readonly role: Role }>('/api/access')).role,
    readTeam: async <T>(path: string, signal: AbortSignal) => (await (await request(`/api/team/${path}`, { signal })).json()) as T,
    files: () => read('/files'),
    inputs: (pipeline) => send('/inputs', pipeline),
    start: async (pipeline, settings) => (await send<{ readonly id: string }>('/pipelines', { ...pipeline, ...settings })).id,
    list: () => read('/pipelines'),
    status: (id) => read(`/pipelines/${id}`),
    questions: (id) => read(`/pipelines/${id}/questions`),
    page: (id) => read(`/pipelines/${id}/page`),
    operations: (id, op) => read(`/pipelines/${id}/operations${op === undefined ? '' : `?op=${encodeURIComponent(op)}`}`),
    graph: async (id) => (await request(`/pipelines/${id}/graph`)).text(),
    output: async (id, signal) => (await (await request(`/pipelines/${id}/output`, { signal })).json()) as RunOutput,
    cancel: (id) => post(`/pipelines/${id}/cancel`, {}),
    resume: (id) => post(`/pipelines/${id}/resume`, {}),
    answer: (id, question, value) => post(`/pipelines/${id}/questions/${question}/answer`, { value }),
    async follow(id, after, onEvent, signal) {
      let last = after;
      while (!signal.aborted) {
        try {
          const response = await request(`/pipelines/${id}/events`, { signal, headers: last === '' ? {} : { 'last-event-id': last } });
          if (response.status === 204 || !response.body) return;
          for await (const frame of framesOf(response.body)) {
            last = frame.id;
            onEvent(JSON.parse(frame.data) as JournalEvent, last);
          }
        } catch (error) {
          if (error instanceof ApiError && error.status < 500) throw error;
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS)); // the server may come back
        }
      }
    },
  };
}

/** `EventSource` can't send a token, so the stream is read by hand. */
async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ readonly id: string; readonly data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (rest + value).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = new Map(frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
      const [id, data] = [lines.get('id'), lines.get('data')];
      if (id !== undefined && data !== undefined) yield { id, data };
    }
  }
}
