/** Compiles JSON Schemas of draft 2020-12. Wraps `ajv`, which is loaded when a script first uses a schema. calls.md 8.1 and 8.3. */
import type { ErrorObject } from 'ajv';
import { canonicalJson, sha256 } from '../../../journal/canonical.js';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { search } from '../../values/methods/regex.js';

export interface ResultSchema {
  /** Is the same for schemas of the same content. */
  readonly digest: string;
  /** Returns the places and rules that a value breaks, at most five; none for a value that fits. */
  readonly problemsIn: (value: Json) => readonly string[];
}

const PROBLEMS_MAX = 5;
const PROBLEM_UNITS_MAX = 200;

/** Throws an Error whose message says why the data is not a schema. Nothing is fetched: a reference must lead into the schema itself. */
export async function compileSchema(schema: Json): Promise<ResultSchema> {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error('a schema is an object');
  const { $async: isAsync } = schema as { readonly $async?: Json };
  if (isAsync !== undefined) throw new Error('`$async` is not a keyword of JSON Schema'); // ajv would return promises
  const [{ Ajv2020 }, formats] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')]);
  // Keywords that JSON Schema does not know are annotations (`example`), so only the meta-schema decides what a schema is.
  const ajv = new Ajv2020({ allErrors: true, strict: false, logger: false, code: { regExp: limitedPattern } });
  formats.default.default(ajv);
  const validate = ajv.compile(schema);
  return {
    digest: sha256(canonicalJson(schema)),
    problemsIn(value) {
      try {
        if (validate(value)) return [];
      } catch (error) {
        if (!(error instanceof MlldError) || error.code !== 'PATTERN_TOO_SLOW') throw error;
        return [error.message.slice(0, PROBLEM_UNITS_MAX)];
      }
      return [...new Set((validate.errors ?? []).map(problemOf))].slice(0, PROBLEMS_MAX);
    },
  };
}

/** Some patterns take very long for some texts, and a model's reply may be one: nothing else would run meanwhile. */
const limitedPattern = Object.assign(
  (source: string, flags: string): RegExp => {
    const pattern = new RegExp(source, flags);
    const test = (text: string): boolean => search(pattern, text.length, () => RegExp.prototype.test.call(pattern, text));
    return Object.assign(pattern, { test });
  },
  { code: 'new RegExp' }, // of programs that ajv writes to files, and these are not
);

/** `/mark must be <= 6` */
function problemOf({ instancePath, message = 'does not fit', params }: ErrorObject): string {
  const place = instancePath === '' ? 'the result' : instancePath;
  const detail = DETAILS.map((name) => (params as { readonly [name: string]: Json })[name]).find((value) => value !== undefined);
  return `${place} ${message}${detail === undefined ? '' : `: ${JSON.stringify(detail)}`}`.slice(0, PROBLEM_UNITS_MAX);
}

/** Members of ajv's errors that its messages leave out. */
const DETAILS = ['additionalProperty', 'unevaluatedProperty', 'allowedValues', 'allowedValue'];
