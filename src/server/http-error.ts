/** Turns errors that a request causes into responses: a status, and the error as JSON. graph-pipelines.md 13.2. */
import { MlldError, type ErrorDetails } from '../errors.js';
import type { Diagnostic } from '../api/pipeline-runs.js';
import type { HttpResponse } from '../world/http.js';
import { jsonResponse } from './responses.js';

export class HttpError extends MlldError {
  readonly status: number;
  readonly diagnostics: readonly Diagnostic[] | undefined;
  readonly headers: { readonly [name: string]: string };
  constructor(
    status: number,
    code: string,
    message: string,
    { diagnostics, headers = {}, ...details }: ErrorDetails & { diagnostics?: readonly Diagnostic[]; headers?: HttpError['headers'] } = {},
  ) {
    super(code, message, details);
    this.status = status;
    this.diagnostics = diagnostics;
    this.headers = headers;
  }
}

/** Statuses for errors of the engine that a request can cause. */
const STATUS: { readonly [code: string]: number } = {
  ANSWER_UNFIT: 422,
  FILE_NOT_FOUND: 409,
  GRAPH_NOT_DRAWN: 422,
  GRAPH_TOO_DENSE: 422,
  ORPHANS_LEFT: 409,
  PIPELINE_JOURNAL: 503,
  QUESTION_CLOSED: 409,
  RESUME_GRAPH: 409,
  RESUME_NOTHING: 409,
  RESUME_RUNNING: 409,
  RUN_ELSEWHERE: 409,
};

/** Returns undefined for an error that no request can cause: it is a fault of the server. */
export function errorResponse(error: unknown): HttpResponse | undefined {
  if (!(error instanceof MlldError)) return storeResponse(error);
  const { code, message, hint } = error;
  const { status, diagnostics, headers } = error instanceof HttpError ? error : { status: STATUS[code] };
  if (status === undefined) return undefined;
  return jsonResponse(
    status,
    { error: { code, message, ...(hint === undefined ? {} : { hint }), ...(diagnostics === undefined ? {} : { diagnostics }) } },
    headers,
  );
}

/** The store of a team may be away or refuse this user, and a workflow be locked for long: that is no fault of the server. */
function storeResponse(error: unknown): HttpResponse | undefined {
  if (!(error instanceof Error) || !('code' in error) || !/^(STORE_[A-Z_]+|JOURNAL_BUSY)$/.test(String(error.code))) return undefined;
  const hint = hintOf(error);
  return jsonResponse(503, { error: { code: error.code, message: error.message, ...(hint === undefined ? {} : { hint }) } });
}

/** Returns what an error says of its remedy; undefined where it names none. */
export function hintOf(error: unknown): string | undefined {
  return error instanceof Error && 'hint' in error && typeof error.hint === 'string' ? error.hint : undefined;
}
