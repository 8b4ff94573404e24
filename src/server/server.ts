/**
 * Pipelines over HTTP: sent, watched, answered and cancelled. It keeps nothing of its own; what it says of a run is a fold of the run's
 * journal, so that a server which was killed knows all of it again. graph-pipelines.md 13.2.
 *
 * S1 Nobody but this machine is listened to without a token.
 * S2 A fault in one request ends that request: the runs go on.
 * S3 Ending: no new runs, the running ones end in order, then those who watch, then the address is free.
 */
import type { JournalStore } from '../../journal/store.js';
import { MlldError } from '../errors.js';
import { createPipelineRuns, type PipelineRun } from '../session/pipeline/history/pipeline-runs.js';
import { listen, type HttpResponse, type HttpListener, type HttpRequest } from '../world/http.js';
import { checkAccess, isLoopback } from './access.js';
import { jsonResponse } from './responses.js';
import { createAnswerQueue } from './submit-answer.js';
import { createFeeds } from './feeds.js';
import { createRunManager, type RunManager, type RunManagerOptions } from './run-manager.js';
import { pageResponse, type PageFiles } from './page.js';
import { createDrawings } from './drawings.js';
import { errorResponse } from './http-error.js';
import { route, type Services } from './routes.js';
import { resumeRun, handleInterruptedRuns } from './resume-runs.js';
import { removeOrphanedUploads } from './orphaned-uploads.js';

export interface ServerOptions extends RunManagerOptions {
  readonly store: JournalStore;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Asked for with every request; needed where `host` is no loopback address. */
  readonly token?: string;
  readonly page: PageFiles;
  /** Goes on by itself with the runs that an earlier server left. */
  readonly resumesRuns?: boolean;
}

export interface PipelineServer {
  readonly url: string;
  readonly port: number;
  /** S3 */
  close(): Promise<void>;
}

const GRACE_MS = 2000;
/** Where anybody in the network may try. */
const TOKEN_LENGTH_MIN = 16;

/** @throws MlldError SERVE_TOKEN, SERVE_ADDRESS */
export async function startServer(options: ServerOptions): Promise<PipelineServer> {
  const { host, port, store, clock } = options;
  // An empty token would be no token.
  const token = options.token === '' ? undefined : options.token;
  if (token === undefined && !isLoopback(host)) {
    throw new MlldError('SERVE_TOKEN', `--host ${host}: others than this machine are served only with a token`, {
      hint: 'set MLLD_SERVE_TOKEN (openssl rand -hex 32 makes one)',
    });
  }
  if (token !== undefined && token.length < TOKEN_LENGTH_MIN && !isLoopback(host)) {
    throw new MlldError(
      'SERVE_TOKEN',
      `The token has ${token.length} characters; others than this machine are served with one of ${TOKEN_LENGTH_MIN} or more`,
      {
        hint: 'MLLD_SERVE_TOKEN=$(openssl rand -hex 32) makes one that nobody guesses',
      },
    );
  }
  const manager: RunManager = createRunManager(options);
  const runs = createPipelineRuns(store, (id) => manager.has(id));
  const stopping = new AbortController();
  const { monotonicMs } = clock;
  const resuming = { store, project: options.project, runs, manager, log: options.log };
  const resume = (run: PipelineRun): Promise<void> => resumeRun(resuming, run);
  const services: Services = {
    store,
    runs,
    manager,
    drawings: createDrawings(store),
    answer: createAnswerQueue({ store, project: options.project, runs, resume, monotonicMs }),
    resume,
    watch: createFeeds({ store, runs, stopping: stopping.signal, monotonicMs }),
    stopping: stopping.signal,
    monotonicMs,
  };
  const listener = await listenAt(host, port, async (request) => {
    try {
      const page = pageResponse(request, options.page);
      checkAccess(request, { host, token }, page ? 'page' : 'data');
      return page ?? (await route(services, request));
    } catch (error) {
      return errorResponse(error) ?? fault(error, options.log);
    }
  });
  const sweeping = removeOrphanedUploads(options.project, store, clock.nowMs()).catch((error: unknown) => {
    options.log(`texts that never ran could not be removed: ${error instanceof Error ? error.message : String(error)}`);
  });
  const tending = handleInterruptedRuns(resuming, { resumes: options.resumesRuns === true }).catch((error: unknown) => {
    options.log(`interrupted runs could not be looked for: ${error instanceof Error ? error.message : String(error)}`);
  });
  return {
    url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${listener.port}/`,
    port: listener.port,
    async close() {
      await manager.end();
      await Promise.all([sweeping, tending]);
      const closed = listener.close(GRACE_MS);
      // Who watches a run that ended has been told so; the rest watches runs of others.
      setTimeout(() => stopping.abort(), GRACE_MS / 2).unref();
      await closed;
    },
  };
}

async function listenAt(host: string, port: number, answer: (request: HttpRequest) => Promise<HttpResponse>): Promise<HttpListener> {
  try {
    return await listen({ host: host.replace(/^\[|\]$/g, ''), port, respond: answer });
  } catch (error) {
    throw new MlldError('SERVE_ADDRESS', `${host}:${port} can't be had: ${(error as Error).message}`, {
      hint: 'another server may have it; --port 0 takes any that is free',
      cause: error,
    });
  }
}

/** S2: ours to mend. */
function fault(error: unknown, log: (line: string) => void): HttpResponse {
  log(`a request could not be answered: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return jsonResponse(500, { error: { code: 'SERVER_FAULT', message: 'The server could not answer; its log says why' } });
}
