/** Opens the run of a script: its calls, its journal, its state, and the frame of its first statement. */
import type { Script } from '../../grammar/ast.js';
import type { CallSettings } from '../calls/options.js';
import { execute } from '../language/evaluate.js';
import type { Frame, RunState } from '../runtime/frame.js';
import type { Module } from '../runtime/module.js';
import { SecretRegistry } from '../runtime/secrets/secret-registry.js';
import type { World } from '../world/world.js';
import type { OpenedJournal } from './ports/opened-journal.js';
import { openJournal } from './ports/open-journal.js';
import { createCallRuntime } from './script/call-runtime.js';
import { createRunState, rootFrame } from './script/root-frame.js';
import type { RunOptions } from './script/run-options.js';
import { settingsFor } from './script/settings.js';

export interface Supervised {
  readonly world: World;
  readonly signal: AbortSignal;
  readonly pause: () => void;
}

interface RunParts {
  readonly script: Script;
  readonly module: Module;
  readonly calls: CallSettings;
  readonly state?: RunState['state'];
  readonly document: RunState['document'];
}

export interface OpenedRun {
  readonly journal: OpenedJournal;
  readonly frame: Frame;
}

/** Throws what `openJournal` throws. */
export async function openRun(
  options: RunOptions,
  { script, module, state, calls: callSettings, document }: RunParts,
  { world, signal, pause }: Supervised,
): Promise<OpenedRun> {
  const calls = createCallRuntime({ settings: callSettings, io: options.io, pause, signal });
  const settings = await settingsFor(options, module.directory, world);
  const secrets = new SecretRegistry();
  const journal = await openJournal(options, script, { world, secrets, signal, calls, inputs: { settings, state } });
  const { recorder, cache, trace } = journal;
  const run = createRunState({ options, world, recorder, trace, cache, secrets, document, settings, state, signal, calls });
  return { journal, frame: rootFrame(run, module, execute) };
}
