/**
 * Serves pipelines over HTTP: clients send, watch, answer and cancel them. The server has no state of its own; it reports a run by folding
 * the run's journal, so a server that was killed and started again knows everything. graph-pipelines.md 13.2.
 *
 * SERVER-1 Without a token the server listens only to this machine.
 * SERVER-2 A fault in one request ends that request only; the runs continue.
 * SERVER-3 Shutdown: no new runs start, running ones end in order, then the streams of watchers end, then the address is free.
 */
import type { Defect, JournalStore } from '../../journal/store.js';
import { messageOf, MlldError, stackOf } from '../errors.js';
import { createPipelineRuns, type PipelineRun } from '../api/pipeline-runs.js';
import { reportStore } from '../api/reports/odd-lines.js';
import { listen, type HttpListener, type HttpOptions, type HttpRequest, type HttpResponse } from '../world/http.js';
import { checkAccess, isLoopback, type AccessToken } from './access.js';
import { jsonResponse } from './responses.js';
import { createAnswerQueue } from './submit-answer.js';
import { createFeeds } from './feeds.js';
import { createRunManager, type RunManager, type RunManagerOptions } from './run-manager.js';
import { createLivePages, type LivePagesOptions } from './live-pages.js';
import { pageResponse, type PageFiles } from './page.js';
import { createDrawings } from './drawings.js';
import { errorResponse } from './http-error.js';
import { route, type Services } from './routes.js';
import { createTeam } from './team.js';
import { resumeRun, handleInterruptedRuns } from './resume-runs.js';
import { removeOrphanedUploads } from './orphaned-uploads.js';

export type { AccessToken } from './access.js';
export { parseTokenFile } from './token-file.js';
export { serveRunPage, type RunPageServer, type RunPageSource } from './run-page.js';

export interface ServerOptions extends RunManagerOptions {
  readonly store: JournalStore;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** One of them is required of every request; needed unless `host` is a loopback address. */
  readonly tokens?: readonly AccessToken[];
  readonly page: PageFiles;
  /** Words the commands that the page of a run offers. */
  readonly stepsOf: LivePagesOptions['stepsOf'];
  /** Resumes the runs that an earlier server left interrupted. */
  readonly resumesRuns?: boolean;
}

export interface PipelineServer {
  readonly url: string;
  readonly port: number;
  /** Shuts down (SERVER-3). */
  close(): Promise<void>;
}

const GRACE_MS = 2000;
/** The shortest token for an address that others in the network can reach. */
const TOKEN_LENGTH_MIN = 16;

/** @throws MlldError SERVE_TOKEN, SERVE_ADDRESS */
export async function startServer(options: ServerOptions): Promise<PipelineServer> {
  const { host, port, store, clock } = options;
  // An empty token counts as none.
  const tokens = (options.tokens ?? []).filter(({ token }) => token !== '');
  if (tokens.length === 0 && !isLoopback(host)) {
    throw new MlldError('SERVE_TOKEN', `--host ${host}: a server that other machines can reach needs a token`, {
      hint: 'set MLLD_SERVE_TOKEN, for example to the output of openssl rand -hex 32',
    });
  }
  const short = isLoopback(host) ? undefined : tokens.find(({ token }) => token.length < TOKEN_LENGTH_MIN);
  if (short) {
    throw new MlldError(
      'SERVE_TOKEN',
      `The token has ${short.token.length} characters; a server that other machines can reach needs ${TOKEN_LENGTH_MIN} or more`,
      {
        hint: 'MLLD_SERVE_TOKEN=$(openssl rand -hex 32) makes one that is hard to guess',
      },
    );
  }
  const manager: RunManager = createRunManager(options);
  const runs = createPipelineRuns(store, (id, latest) => manager.has(id, latest));
  const stopping = new AbortController();
  const { monotonicMs } = clock;
  const resuming = { store, project: options.project, runs, manager, log: options.log };
  const resume = (run: PipelineRun): Promise<void> => resumeRun(resuming, run);
  const services: Services = {
    store,
    project: options.project,
    runs,
    manager,
    drawings: createDrawings(store),
    pages: createLivePages({ store, stepsOf: options.stepsOf, monotonicMs }),
    answer: createAnswerQueue({ store, project: options.project, runs, resume, monotonicMs }),
    resume,
    streams: { count: 0 },
    watch: createFeeds({ store, runs, stopping: stopping.signal, monotonicMs }),
    team: createTeam({
      store: reportStore(store, logOnce(options.log)),
      project: options.project,
      clock,
      stopping: stopping.signal,
      log: options.log,
    }),
    stopping: stopping.signal,
    monotonicMs,
  };
  const respond = async (request: HttpRequest): Promise<HttpResponse> => {
    try {
      const page = pageResponse(request, options.page);
      const role = checkAccess(request, { host, tokens }, page ? 'page' : 'data');
      return page ?? (await route(services, request, role));
    } catch (error) {
      return errorResponse(error) ?? fault(error, options.log);
    }
  };
  const onBroken = (error: unknown): void => options.log(`a stream broke off: ${messageOf(error)}`);
  const listener = await listenAt({ host, port, respond, onBroken });
  const sweeping = removeOrphanedUploads(options.project, store, clock.nowMs()).catch((error: unknown) => {
    options.log(`uploads that never ran could not be removed: ${messageOf(error)}`);
  });
  const tending = handleInterruptedRuns(resuming, { resumes: options.resumesRuns === true }).catch((error: unknown) => {
    options.log(`interrupted runs could not be listed: ${messageOf(error)}`);
  });
  return {
    url: `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${listener.port}/`,
    port: listener.port,
    async close() {
      await manager.end();
      await Promise.all([sweeping, tending]);
      const closed = listener.close(GRACE_MS);
      // Streams of runs that ended here have ended; the others watch runs of other processes.
      setTimeout(() => stopping.abort(), GRACE_MS / 2).unref();
      await closed;
    },
  };
}

async function listenAt({ host, port, ...handlers }: HttpOptions): Promise<HttpListener> {
  try {
    return await listen({ host: host.replace(/^\[|\]$/g, ''), port, ...handlers });
  } catch (error) {
    throw new MlldError('SERVE_ADDRESS', `Can't listen at ${host}:${port}: ${(error as Error).message}`, {
      hint: 'another program may be using the port: choose another port, or let --port 0 take any free one',
      cause: error,
    });
  }
}

/** Answers a request that failed by a defect of the server (SERVER-2). */
/** Logs once for each run which of its lines lists and sums leave out: they read a run again and again. */
function logOnce(log: (line: string) => void): (defect: Defect) => void {
  const logged = new Set<string>();
  return ({ run: { run }, message }) => {
    if (logged.has(run)) return;
    logged.add(run);
    log(`run ${run}: ${message}; see mlld journal verify ${run}`);
  };
}

function fault(error: unknown, log: (line: string) => void): HttpResponse {
  log(`a request failed: ${stackOf(error)}`);
  return jsonResponse(500, {
    error: { code: 'SERVER_FAULT', message: "The request failed by a fault of the server; the server's log has the reason" },
  });
}
