/** Parses the bodies of requests. Each function throws an `HttpError` that names the defect. */
import { isObject } from '../api/check.js';
import type { HttpRequest } from '../world/http.js';
import type { Submission } from './run-manager.js';
import { HttpError } from './http-error.js';

const BODY_BYTES_MAX = 1024 * 1024;

type JsonObject = { readonly [member: string]: unknown };

/** Reads `{"dot": "digraph …", "set": {"berth": "4"}, "backend": "simulated"}`; `set` and `backend` are optional. */
export async function submissionIn(request: HttpRequest): Promise<Submission> {
  const { dot, set = {}, backend } = await objectIn(request, ['dot', 'set', 'backend']);
  if (typeof dot !== 'string') throw invalid('"dot" has to be a string, the text of a pipeline');
  if (!isObject(set) || !Object.values(set).every((value) => typeof value === 'string'))
    throw invalid('"set" has to be an object whose values are strings');
  if (backend !== undefined && typeof backend !== 'string') throw invalid('"backend" has to be a string');
  return { dot, set: set as Submission['set'], ...(backend === undefined ? {} : { backend }) };
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
  if (!isObject(value)) throw invalid('it has to be a JSON object');
  const unknown = Object.keys(value).find((member) => !members.includes(member));
  if (unknown !== undefined) throw invalid(`there is no member "${unknown}": use ${members.join(', ')}`);
  return value;
}

function invalid(message: string): HttpError {
  return new HttpError(400, 'REQUEST_INVALID', `The body can't be used: ${message}`);
}
