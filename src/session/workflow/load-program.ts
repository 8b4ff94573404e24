/** Loads a program of the library from its file: the user's own module, which runs as any other of Node. workflows-js.md 15. */
import { pathToFileURL } from 'node:url';
import type { Json } from '../../../journal/event.js';
import { MlldError } from '../../errors.js';
import { createImporting } from '../../world/code/importing.js';
import type { Context } from '../../workflows/program/context.js';

/** The member by which a program is known, whichever copy of this package made it. */
export const PROGRAM = Symbol.for('mlld.program');

export interface LoadedProgram {
  readonly name: string;
  readonly body: (ctx: Context, input: Json) => Promise<unknown>;
}

/** Throws WORKFLOW_NAME for a module whose default export is no program, and WORKFLOW_FAILED for one that can't be loaded. */
export async function loadProgram(file: string, display: string): Promise<LoadedProgram> {
  const { default: found } = (await importing(file, display)) as { readonly default?: { readonly name?: unknown; [PROGRAM]?: unknown } };
  const body = found?.[PROGRAM];
  if (typeof found?.name === 'string' && typeof body === 'function') return { name: found.name, body: body as LoadedProgram['body'] };
  throw new MlldError('WORKFLOW_NAME', `the default export of ${display} is no program`, {
    hint: "write: export default workflow('name', async (ctx, input) => { … }), with workflow from 'mlld'",
  });
}

async function importing(file: string, display: string): Promise<unknown> {
  try {
    return await createImporting().load(pathToFileURL(file).href);
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    const isTyped = code === 'ERR_UNKNOWN_FILE_EXTENSION';
    throw new MlldError('WORKFLOW_FAILED', `${display} can't be loaded: ${String(message ?? error).split('\n')[0]}`, {
      cause: error,
      hint: isTyped ? 'this version of Node runs no TypeScript: compile it first (npx tsc), or use Node 22.18 or later' : undefined,
    });
  }
}
