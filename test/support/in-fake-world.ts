/** Runs a script in a fake world, without a journal, and returns its output, warnings and facts. */
import { parseScript } from '../../grammar/parse.js';
import type { Fact } from '../../journal/event.js';
import type { MlldError } from '../../src/errors.js';
import { createInterceptors } from '../../src/session/script/interceptors.js';
import { evaluator, execute } from '../../src/language/evaluate.js';
import type { RunState } from '../../src/runtime/frame.js';
import type { Module } from '../../src/runtime/module.js';
import type { Settings } from '../../src/runtime/settings.js';
import { bindFrontmatter, createModule } from '../../src/language/source-module.js';
import { rootFrame } from '../../src/session/script/root-frame.js';
import type { DataObject } from '../../src/values/value.js';
import { bareRun } from './bare-run.js';
import { FakeWorld, type FakeWorldOptions } from './fake-world.js';

export interface ScriptOptions extends FakeWorldOptions {
  readonly mode?: 'strict' | 'markdown';
  readonly records?: boolean;
  /** Replaces the fake world that is made from the other options. */
  readonly world?: FakeWorld;
  /** Absolute; the project root is `/p`. */
  readonly path?: string;
  readonly workingDirectory?: string;
  readonly payload?: DataObject;
  readonly state?: DataObject;
  readonly injected?: Settings['injected'];
  readonly prefixes?: Settings['prefixes'];
}

export interface ScriptResult {
  readonly shown: string;
  readonly stderr: string;
  readonly warnings: readonly string[];
  /** The recorded facts, with `records`. */
  readonly facts: readonly Fact[];
  readonly error: MlldError | undefined;
  readonly world: FakeWorld;
  readonly run: RunState;
  /** The script, with the names that it declared. */
  readonly module: Module;
}

/** Code in other languages is not run: what scripts here do is files, modules and text. */
export async function runScript(text: string, options: ScriptOptions = {}): Promise<ScriptResult> {
  const path = options.path ?? '/p/main.mld';
  const directory = path.slice(0, path.lastIndexOf('/'));
  const world = options.world ?? new FakeWorld(options);
  const shown: string[] = [];
  const stderr: string[] = [];
  const warnings: string[] = [];
  const facts: Fact[] = [];
  const settings: Settings = {
    projectRoot: '/p',
    scriptDirectory: directory,
    workingDirectory: options.workingDirectory ?? '/p',
    prefixes: options.prefixes ?? [],
    payload: options.payload ?? {},
    injected: options.injected ?? new Map(),
    hasState: options.state !== undefined,
    errorBehavior: 'continue',
    streaming: true,
    recursionDepth: 64,
    parallelLimit: 4,
    hookLimitMs: 60_000,
  };
  const run: RunState = {
    ...bareRun().run,
    world,
    recorder: { on: options.records ?? false, post: (fact) => void facts.push(fact), append: async () => undefined },
    document: {
      show: async (item) => void shown.push(item.endsWith('\n') ? item : `${item}\n`),
      prose: async (item) => void shown.push(item),
      write: async (stream, item) => void (stream === 'stdout' ? shown : stderr).push(item),
      note: () => undefined,
      text: () => shown.join(''),
    },
    interceptors: createInterceptors(world),
    settings,
    state: options.state,
    evaluator,
    monotonicMs: () => 0,
    warn: (message) => void warnings.push(message),
  };
  const module = createModule({ path, display: path.slice('/p/'.length), directory, text, isMain: true });
  const frame = rootFrame(run, module, execute);
  const result = { shown: () => shown.join(''), stderr: () => stderr.join('') };
  let error: MlldError | undefined;
  try {
    const script = parseScript(text, { mode: options.mode ?? 'strict' });
    await bindFrontmatter(script, module);
    await execute(script.statements, frame);
  } catch (caught) {
    error = caught as MlldError;
  }
  return { shown: result.shown(), stderr: result.stderr(), warnings, facts, error, world, run, module };
}
