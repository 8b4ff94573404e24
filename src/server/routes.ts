/** Routes requests: the table has a row per kind of request. graph-pipelines.md 13.2. */
import type { RunId } from '../../journal/ids.js';
import type { JournalStore } from '../../journal/store.js';
import type { PipelineRuns, PipelineRun, Project } from '../api/pipeline-runs.js';
import type { HttpResponse, HttpRequest } from '../world/http.js';
import { jsonResponse, textResponse } from './responses.js';
import type { createAnswerQueue } from './submit-answer.js';
import { answerIn, pipelineIn, startIn, type NamedPipeline } from './request-bodies.js';
import { formOf, listProjectPipelines, readProjectPipeline } from './project-pipelines.js';
import { eventResponse, type OpenStreams } from './event-stream.js';
import { isOver, type Feed, type FeedRun } from './feeds.js';
import { withFiles, type RunManager } from './run-manager.js';
import type { Drawings } from './drawings.js';
import type { LivePages } from './live-pages.js';
import { HttpError } from './http-error.js';
import { requireRole, type Role } from './access.js';
import type { Team } from './team.js';

export interface Services {
  readonly store: JournalStore;
  readonly project: Project;
  readonly runs: PipelineRuns;
  readonly manager: RunManager;
  readonly drawings: Drawings;
  readonly pages: LivePages;
  readonly answer: ReturnType<typeof createAnswerQueue>;
  /** Throws as `resumeRun`. */
  readonly resume: (run: PipelineRun) => Promise<void>;
  readonly watch: (run: FeedRun) => Feed;
  readonly streams: OpenStreams;
  readonly team: Team;
  readonly stopping: AbortSignal;
  readonly monotonicMs: () => number;
}

type Respond = (services: Services, request: HttpRequest, named: Named) => Promise<HttpResponse>;

interface Named {
  readonly id: string;
  readonly qid: string;
  readonly role: Role;
}

interface Row {
  /** Everything but `GET` needs the role `run`: ACCESS-4. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly respond: Respond;
}

const ROUTES: readonly Row[] = [
  { method: 'GET', path: '/api/access', respond: async (_services, _request, { role }) => jsonResponse(200, { role }) },
  { method: 'GET', path: '/api/team/runs', respond: async ({ team }, { query }) => jsonResponse(200, await team.runs(query)) },
  {
    method: 'GET',
    path: '/api/team/runs/{id}/page',
    respond: async ({ team, pages }, _, { id }) => jsonResponse(200, (await pages.openRun(await team.run(id))).data),
  },
  {
    method: 'GET',
    path: '/api/team/runs/{id}/operations',
    respond: async ({ team, pages }, { query }, { id }) => {
      const page = await pages.openRun(await team.run(id));
      return jsonResponse(200, await page.details(query.get('op') ?? undefined));
    },
  },
  { method: 'GET', path: '/api/team/costs', respond: async ({ team }, { query }) => jsonResponse(200, await team.costs(query)) },
  { method: 'GET', path: '/api/team/questions', respond: async ({ team }) => jsonResponse(200, await team.questions()) },
  { method: 'GET', path: '/api/team/store', respond: async ({ team }) => jsonResponse(200, await team.store()) },
  {
    method: 'POST',
    path: '/pipelines',
    respond: async (services, request) => {
      const { set, backend, ...named } = await startIn(request);
      const settings = { set, ...(backend === undefined ? {} : { backend }) };
      const id = await services.manager.start({ ...(await textOf(services, named)), ...settings });
      return jsonResponse(201, { id, status: 'running' });
    },
  },
  {
    method: 'GET',
    path: '/files',
    respond: async ({ project }) => jsonResponse(200, await withFiles((world) => listProjectPipelines(world, project))),
  },
  {
    method: 'POST',
    path: '/inputs',
    respond: async (services, request) => jsonResponse(200, formOf((await textOf(services, await pipelineIn(request))).dot)),
  },
  { method: 'GET', path: '/pipelines', respond: async ({ runs }) => jsonResponse(200, await runs.list()) },
  { method: 'GET', path: '/pipelines/{id}', respond: async (services, _, { id }) => jsonResponse(200, (await runOf(services, id)).status) },
  {
    method: 'GET',
    path: '/pipelines/{id}/events',
    respond: async (services, request, { id }) => eventResponse(services, await runOf(services, id), request),
  },
  { method: 'POST', path: '/pipelines/{id}/cancel', respond: cancel },
  {
    method: 'POST',
    path: '/pipelines/{id}/resume',
    respond: async (services, _, { id }) => {
      const run = await runOf(services, id);
      await services.resume(run);
      return jsonResponse(202, { id: run.status.id, status: 'running' });
    },
  },
  { method: 'GET', path: '/pipelines/{id}/graph', respond: graph },
  {
    method: 'GET',
    path: '/pipelines/{id}/page',
    respond: async (services, _, { id }) => jsonResponse(200, (await services.pages.open(await runOf(services, id))).data),
  },
  {
    method: 'GET',
    path: '/pipelines/{id}/operations',
    respond: async (services, { query }, { id }) => {
      const page = await services.pages.open(await runOf(services, id));
      return jsonResponse(200, await page.details(query.get('op') ?? undefined));
    },
  },
  {
    method: 'GET',
    path: '/pipelines/{id}/output',
    respond: async (services, _, { id }) => jsonResponse(200, outputOf(services, await runOf(services, id))),
  },
  {
    method: 'GET',
    path: '/pipelines/{id}/questions',
    respond: async (services, _, { id }) => jsonResponse(200, (await runOf(services, id)).openQuestions.map(shown)),
  },
  {
    method: 'POST',
    path: '/pipelines/{id}/questions/{qid}/answer',
    respond: async (services, request, { id, qid }) => {
      await runOf(services, id);
      return jsonResponse(200, await services.answer(id, qid, await answerIn(request)));
    },
  },
  {
    method: 'GET',
    path: '/pipelines/{id}/checkpoint',
    respond: async (services, _, { id }) => jsonResponse(200, (await runOf(services, id)).checkpoint()),
  },
  {
    method: 'GET',
    path: '/pipelines/{id}/context',
    respond: async (services, _, { id }) => jsonResponse(200, { context: (await runOf(services, id)).context }),
  },
];

/** @throws HttpError, and what the row throws */
export function route(services: Services, request: HttpRequest, role: Role): Promise<HttpResponse> {
  const parts = request.path.split('/');
  const fitting = ROUTES.map((row) => ({ ...row, named: namesIn(row.path.split('/'), parts) })).filter(({ named }) => named);
  if (fitting.length === 0) {
    throw new HttpError(404, 'ROUTE_UNKNOWN', `There is nothing at ${request.path}`, { hint: 'GET /pipelines lists the runs' });
  }
  const found = fitting.find(({ method }) => method === request.method);
  if (found) {
    requireRole(role, found.method === 'GET' ? 'read' : 'run');
    return found.respond(services, request, { id: '', qid: '', ...found.named, role });
  }
  const allowed = fitting.map(({ method }) => method).join(', ');
  throw new HttpError(405, 'METHOD_REFUSED', `${request.path} accepts only ${allowed}`, { headers: { allow: allowed } });
}

/** Returns undefined when the path does not match. */
function namesIn(pattern: readonly string[], parts: readonly string[]): { readonly [name: string]: string } | undefined {
  if (pattern.length !== parts.length) return undefined;
  const named: { [name: string]: string } = {};
  for (const [index, part] of pattern.entries()) {
    const value = parts[index] ?? '';
    if (part.startsWith('{')) named[part.slice(1, -1)] = value;
    else if (part !== value) return undefined;
  }
  return named;
}

/** Reads a pipeline that is named by its path. */
async function textOf({ project }: Services, named: NamedPipeline): Promise<{ readonly dot: string; readonly file?: string }> {
  return 'dot' in named ? named : withFiles((world) => readProjectPipeline(world, project, named.file));
}

async function runOf({ runs, manager }: Services, id: string): Promise<PipelineRun> {
  const run = await runs.find(id);
  if (run) return run;
  // A cut connection leaves the first lines of a run on the disk of this machine for a moment, where the store of a team finds no run.
  const own = id as RunId; // of those that the manager knows, or none
  if (manager.has(own, own)) {
    throw new HttpError(503, 'RUN_NOT_STORED', `Run ${id} has begun here, and the store does not have it yet`, {
      hint: 'send the request again: the store takes the run when it can be reached',
    });
  }
  throw new HttpError(404, 'PIPELINE_UNKNOWN', `There is no pipeline run ${id}`, { hint: 'GET /pipelines lists the runs' });
}

async function cancel(services: Services, _: HttpRequest, { id: requested }: Pick<Named, 'id'>): Promise<HttpResponse> {
  const run = await runOf(services, requested);
  const { status, latest } = run;
  const { id } = status;
  if (isOver(run)) throw new HttpError(409, 'RUN_FINISHED', `Run ${id} is already ${status.status}`);
  if (!services.manager.has(id, latest.ref.run)) {
    throw new HttpError(409, 'RUN_ELSEWHERE', `Run ${id} belongs to another process`, {
      hint: `cancel it where it was last started or resumed; mlld journal show ${latest.ref.run} shows its journal`,
    });
  }
  services.manager.cancel(id, latest.ref.run);
  return jsonResponse(202, { id, status: 'cancelling' });
}

/** Only this process knows what its commands write: nothing of it is recorded before they have ended. */
function outputOf({ manager }: Services, run: PipelineRun): object {
  // A run whose end is recorded is still known to its manager until its files are closed.
  const commands = isOver(run) ? undefined : manager.outputs(run.status.id, run.latest.ref.run);
  return {
    executed_here: commands !== undefined,
    commands: (commands ?? []).map(({ op, text, isCut, isWithheld }) => ({ op, text, is_cut: isCut, is_withheld: isWithheld })),
  };
}

async function graph(services: Services, { query }: HttpRequest, { id }: { readonly id: string }): Promise<HttpResponse> {
  const run = await runOf(services, id);
  const format = query.get('format') ?? 'svg';
  switch (format) {
    case 'svg':
      return textResponse(200, 'image/svg+xml; charset=utf-8', await services.drawings.draw(run));
    case 'dot':
      return textResponse(200, 'text/vnd.graphviz; charset=utf-8', await services.drawings.source(run));
    default:
      throw new HttpError(400, 'REQUEST_INVALID', `format=${format} is unknown: use svg or dot`);
  }
}

function shown({ id, node, text, kind, options, default: fallback, timeoutMs, askedAt }: PipelineRun['openQuestions'][number]): object {
  return {
    id,
    stage: node,
    text,
    kind,
    options: options.map(({ key, label }) => ({ key, label })),
    default: fallback ?? null,
    timeout_ms: timeoutMs ?? null,
    asked_at: askedAt,
  };
}
