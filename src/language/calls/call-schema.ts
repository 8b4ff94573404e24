/** Loads the schema of a function's results: an object, or the path of a file that holds one. calls.md 8.1. */
import type { Expression } from '../../../grammar/ast.js';
import { canonicalJson } from '../../../journal/canonical.js';
import type { Json } from '../../../journal/event.js';
import { compileSchema, type ResultSchema } from '../../calls/schema/compile-schema.js';
import { messageOf, MlldError } from '../../errors.js';
import { performEffect } from '../../operation/perform-effect.js';
import { usesIn } from '../../runtime/definitions/uses.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import { locationOf } from '../../runtime/errors.js';
import type { Frame } from '../../runtime/frame.js';
import { toJson } from '../../values/native.js';
import { shortened } from '../../values/shortened.js';
import { dataOf } from '../../values/value.js';
import { fileMissing } from '../files/unreadable-file.js';
import { resolvePath, resolveText, type ResolvedPath } from '../paths.js';

/** Names of folders, which are the same for all calls. */
const FOLDERS = ['root', 'base'];
/** So much of a wrong schema is quoted. */
const EXCERPT_UNITS = 200;

/** Loads a schema that is the same for all calls, when its function is declared: a bad one is an error before any call. */
export async function loadFixedSchema({ schemaOption }: Executable, frame: Frame): Promise<ResultSchema | undefined> {
  if (!schemaOption || usesIn(schemaOption).some(({ name }) => !FOLDERS.includes(name))) return undefined;
  return loadSchema(schemaOption, frame);
}

/** Loads a schema that a variable or an argument of the call decides. The last one is kept, because most calls have the same. */
export async function schemaOfCall(executable: Executable, option: Expression, frame: Frame): Promise<ResultSchema | undefined> {
  const data = await schemaData(option, frame);
  if (data === null) return undefined;
  const text = canonicalJson(data);
  const { lastSchema } = executable;
  if (lastSchema?.text === text) return lastSchema.schema;
  const schema = await compiled(data, option, frame);
  executable.lastSchema = { text, schema };
  return schema;
}

async function loadSchema(option: Expression, frame: Frame): Promise<ResultSchema | undefined> {
  const data = await schemaData(option, frame);
  return data === null ? undefined : compiled(data, option, frame);
}

/** Returns null where the option is null, as if it were not there. */
async function schemaData(option: Expression, frame: Frame): Promise<Json> {
  if (option.kind === 'template') return readSchema(await resolvePath(option.parts, frame, option.at), option, frame);
  const value = await frame.evaluate(option, frame);
  const data = dataOf(value);
  if (typeof data !== 'string') return toJson(value);
  const path = { absolute: resolveText(data, frame), written: data, root: frame.module.directory };
  return readSchema(path, option, frame);
}

async function readSchema(path: Pick<ResolvedPath, 'absolute' | 'written' | 'root'>, { at }: Expression, frame: Frame): Promise<Json> {
  const read = await performEffect(frame, 'file.read', { path: path.absolute });
  if (!('text' in read)) throw await fileMissing(path, read, frame, at, 'The file of the option schema was');
  try {
    return JSON.parse(read.text.replace(/^\uFEFF/, '')) as Json;
  } catch (error) {
    throw new MlldError('CALL_OPTION', `The option schema: ${path.written} is not JSON: ${(error as Error).message}`, {
      location: locationOf(frame.module, at),
      cause: error,
      hint: 'the file of a schema holds a JSON Schema (draft 2020-12) and nothing else',
    });
  }
}

async function compiled(data: Json, { at }: Expression, frame: Frame): Promise<ResultSchema> {
  try {
    return await compileSchema(data);
  } catch (error) {
    const excerpt = shortened(JSON.stringify(data), EXCERPT_UNITS);
    throw new MlldError('CALL_OPTION', `The option schema is ${excerpt}, which is not a JSON Schema: ${messageOf(error)}`, {
      location: locationOf(frame.module, at),
      cause: error,
      hint: 'schema takes a JSON Schema (draft 2020-12) without references to other documents, or the path of a file with one',
    });
  }
}
