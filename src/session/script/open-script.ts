/** Opens the script of a run: its text, its tree and its module. Nothing is recorded before this has succeeded. */
import path from 'node:path';
import type { Script } from '../../../grammar/ast.js';
import { SyntaxFailure } from '../../../grammar/errors.js';
import { parseScript } from '../../../grammar/parse.js';
import { MlldError } from '../../errors.js';
import { misplacedCheckpoints, writtenName } from '../../language/statements/checkpoint-positions.js';
import { refuseWrittenOptions } from '../../language/calls/written-options.js';
import type { Module } from '../../runtime/module.js';
import { createModule } from '../../language/source-module.js';
import { displayPath } from '../../language/paths.js';
import type { RunOptions } from './run-options.js';
import type { World } from '../../world/world.js';

export interface OpenedScript {
  readonly script: Script;
  readonly module: Module;
}

/** Throws FILE_NOT_FOUND, the errors of the parser, CHECKPOINT_PLACE, CALL_OPTION and BUDGET. */
export async function openScript(options: Pick<RunOptions, 'script' | 'mode' | 'workingDirectory'>, world: World): Promise<OpenedScript> {
  const { module, mode } = await readScript(options, world);
  const script = parse(module, mode);
  refuseMisplacedCheckpoints(script, module);
  refuseWrittenOptions(script, module);
  return { script, module };
}

/** Parses a text in the place of the file at this path. Throws as `openScript` does, without FILE_NOT_FOUND. */
export function parseScriptText(
  text: string,
  { path: file, mode, workingDirectory }: { readonly path: string; readonly mode: RunOptions['mode']; readonly workingDirectory: string },
): OpenedScript {
  const module = scriptModule(file, text, workingDirectory);
  const script = parse(module, mode ?? modeOf(file));
  refuseMisplacedCheckpoints(script, module);
  refuseWrittenOptions(script, module);
  return { script, module };
}

function scriptModule(file: string, text: string, workingDirectory: string): Module {
  const display = displayPath(file, { workingDirectory });
  return createModule({ path: file, display, directory: path.dirname(file), text, isMain: true });
}

function modeOf(file: string): Script['mode'] {
  return file.endsWith('.md') ? 'markdown' : 'strict';
}

interface ReadScript {
  readonly module: Module;
  readonly mode: Script['mode'];
}

async function readScript({ script, mode, workingDirectory }: Parameters<typeof openScript>[0], world: World): Promise<ReadScript> {
  if (script.kind === 'text') {
    const { text, directory, label, recordAs } = script;
    const module = createModule({ path: recordAs ?? label, display: label, directory, text, isMain: true });
    return { module, mode: mode ?? modeOf(recordAs ?? label) };
  }
  const read = await world.perform('file.read', { path: script.path });
  const display = displayPath(script.path, { workingDirectory });
  if (!('text' in read)) {
    throw new MlldError(
      'FILE_NOT_FOUND',
      read.missing === 'absent' ? `There is no file ${display}` : `${display} can't be read: ${read.detail}`,
    );
  }
  return { module: scriptModule(script.path, read.text, workingDirectory), mode: mode ?? modeOf(script.path) };
}

function parse({ text, display }: Module, mode: Script['mode']): Script {
  try {
    return parseScript(text, { mode });
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    const location = { file: display, at: error.at, text };
    throw new MlldError(error.code, `Parse error: ${error.message}`, { location, hint: error.hint, cause: error });
  }
}

function refuseMisplacedCheckpoints(script: Script, module: Module): void {
  const [first] = misplacedCheckpoints(script);
  if (!first) return;
  const name = writtenName(first) ?? '…';
  throw new MlldError(
    'CHECKPOINT_PLACE',
    `checkpoint "${name}" is only allowed at top level or as a direct => result of a top-level when`,
    {
      location: { file: module.display, at: first.at, text: module.text },
    },
  );
}
