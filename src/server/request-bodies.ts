/** Parses the bodies of requests. Each function throws an `HttpError` that names the defect. */
import { isRecord } from '../api/check.js';
import type { HttpRequest } from '../world/http.js';
import { HttpError } from './http-error.js';

const BODY_BYTES_MAX = 1024 * 1024;

type JsonObject = { readonly [member: string]: unknown };

/** Names a pipeline by its text, or a pipeline of the project by its path. */
export type NamedPipeline = { readonly dot: string } | { readonly file: string };

export type StartRequest = NamedPipeline & { readonly set: { readonly [key: string]: string }; readonly backend?: string };

/** Reads `{"dot": "digraph …"}`, or `{"file": "release.dot"}`. */
export async function pipelineIn(request: HttpRequest): Promise<NamedPipeline> {
  return namedIn(await objectIn(request, ['dot', 'file']));
}

function namedIn({ dot, file }: JsonObject): NamedPipeline {
  if (dot !== undefined && file !== undefined) throw invalid('it needs either "dot" or "file"');
  if (typeof file === 'string') return { file };
  if (file !== undefined) throw invalid('"file" has to be a string, the path of a pipeline in the project');
  if (typeof dot !== 'string') throw invalid('"dot" has to be a string, the text of a pipeline');
  return { dot };
}

/** Reads `{"dot": "digraph …", "set": {"berth": "4"}, "backend": "simulated"}`: the last two are optional, and `file` may replace `dot`. */
export async function startIn(request: HttpRequest): Promise<StartRequest> {
  const { set = {}, backend, ...rest } = await objectIn(request, ['dot', 'file', 'set', 'backend']);
  const named = namedIn(rest);
  if (!isRecord(set) || !Object.values(set).every((value) => typeof value === 'string'))
    throw invalid('"set" has to be an object whose values are strings');
  if (backend !== undefined && typeof backend !== 'string') throw invalid('"backend" has to be a string');
  return { ...named, set: set as StartRequest['set'], ...(backend === undefined ? {} : { backend }) };
}

/** Reads `{"value": "O"}`, a key, or `{"text": "Open"}`, the text of a person. */
export async function answerIn(request: HttpRequest): Promise<string> {
  const { value, text } = await objectIn(request, ['value', 'text']);
  const answer = value ?? text;
  if (typeof answer !== 'string' || (value !== undefined && text !== undefined))
    throw invalid('it needs either "value" or "text", a string');
  return answer;
}

async function objectIn(request: HttpRequest, members: readonly string[]): Promise<JsonObject> {
  const body = await request.body(BODY_BYTES_MAX);
  if (body === undefined)
    throw new HttpError(413, 'REQUEST_TOO_LARGE', `The body is larger than ${BODY_BYTES_MAX} bytes`, {
      hint: 'split the pipeline',
    });
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new HttpError(400, 'REQUEST_INVALID', `The body is not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw invalid('it has to be a JSON object');
  const unknown = Object.keys(value).find((member) => !members.includes(member));
  if (unknown !== undefined) throw invalid(`there is no member "${unknown}": use ${members.join(', ')}`);
  return value;
}

function invalid(message: string): HttpError {
  return new HttpError(400, 'REQUEST_INVALID', `The body can't be used: ${message}`);
}
