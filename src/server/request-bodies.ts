/** Bodies of requests: JSON of a known shape, or an error that says what is wrong with it. */
import type { HttpRequest } from '../world/http.js';
import type { Submission } from './run-manager.js';
import { HttpError } from './http-error.js';

const BODY_BYTES_MAX = 1024 * 1024;

type JsonObject = { readonly [member: string]: unknown };

/** `{"dot": "digraph …", "set": {"berth": "4"}, "backend": "simulated"}`; the last two may be missing. */
export async function submissionIn(request: HttpRequest): Promise<Submission> {
  const { dot, set = {}, backend } = await objectIn(request, ['dot', 'set', 'backend']);
  if (typeof dot !== 'string') throw invalid('"dot" has to be the text of a pipeline');
  if (!isObject(set) || !Object.values(set).every((value) => typeof value === 'string'))
    throw invalid('"set" has to be an object whose values are texts');
  if (backend !== undefined && typeof backend !== 'string') throw invalid('"backend" has to be a text');
  return { dot, set: set as Submission['set'], ...(backend === undefined ? {} : { backend }) };
}

/** `{"value": "O"}` or `{"text": "Open"}`: a key, or what a person wrote. */
export async function answerIn(request: HttpRequest): Promise<string> {
  const { value, text } = await objectIn(request, ['value', 'text']);
  const given = value ?? text;
  if (typeof given !== 'string' || (value !== undefined && text !== undefined)) throw invalid('either "value" or "text" has to be a text');
  return given;
}

async function objectIn(request: HttpRequest, members: readonly string[]): Promise<JsonObject> {
  const body = await request.body(BODY_BYTES_MAX);
  if (body === undefined)
    throw new HttpError(413, 'REQUEST_TOO_LARGE', `A body may have ${BODY_BYTES_MAX} bytes`, {
      hint: 'a pipeline of that size is better split',
    });
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new HttpError(400, 'REQUEST_INVALID', `The body is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw invalid('it has to be a JSON object');
  const unknown = Object.keys(value).find((member) => !members.includes(member));
  if (unknown !== undefined) throw invalid(`"${unknown}" is none of ${members.join(', ')}`);
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): HttpError {
  return new HttpError(400, 'REQUEST_INVALID', `The body can't be used: ${message}`);
}
