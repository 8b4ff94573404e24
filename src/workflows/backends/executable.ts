/** Asks a function of the language: `exe llm @NAME(prompt, options)`. workflows-js.md 9. */
import path from 'node:path';
import { createModule } from '../../language/source-module.js';
import { displayPath } from '../../language/paths.js';
import { evaluateModule } from '../../modules/evaluate-module.js';
import { performEffect } from '../../operation/perform-effect.js';
import { recordSource } from '../../operation/sources.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import { Executable } from '../../runtime/definitions/executable.js';
import { callValue } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';
import type { ModuleExports } from '../../runtime/module.js';
import { toJson } from '../../values/native.js';
import { dataOf, type Value } from '../../values/value.js';
import type { AgentBackend } from './backend.js';

/** @param written `FILE.mld#NAME`, where the file is relative to `directory` */
export function executableBackend(written: string, directory: string): AgentBackend | undefined {
  const at = written.lastIndexOf('#');
  if (at < 1 || at === written.length - 1) return undefined;
  const file = path.resolve(directory, written.slice(0, at));
  const name = written.slice(at + 1).replace(/^@/, '');
  return {
    name: `exe:${written}`,
    async ask(frame, { request, prompt, model }) {
      const executable = await load(file, name, frame);
      const { prompt: _prompt, asked: _asked, unknown: _unknown, ...options } = request;
      const about = { ...options, ...(model !== undefined && { model }) } as unknown as Value;
      // The agent's call has been looked up already: the function's own call is recorded, and not looked up again.
      const cache = { ...frame.run.cache, policy: () => ({ records: true, reuses: false }), lookup: () => undefined };
      const inner = frame.run.cache.policy().records ? { ...frame, run: { ...frame.run, cache } } : frame;
      const result = await callValue(executable, [prompt, about], inner, { at: 0, called: [name] });
      const data = dataOf(result);
      return typeof data === 'string' ? { text: data } : { data: toJson(result) };
    },
  };
}

async function load(file: string, name: string, frame: Frame): Promise<Executable> {
  const { values } = await loadModule(file, frame);
  const value = dataOf(values.get(name));
  if (value instanceof Executable) return value;
  throw new AttemptFailed({ class: 'crash', evidence: 'none', message: `${file} has no function @${name}` });
}

/** Evaluates a module of the language once in a run: its hooks and guards hold from then on. */
export function loadModule(file: string, frame: Frame): Promise<ModuleExports> {
  const { modules } = frame.run;
  const loading = modules.get(file) ?? evaluateFile(file, frame);
  modules.set(file, loading);
  return loading;
}

async function evaluateFile(file: string, frame: Frame): Promise<ModuleExports> {
  const found = await performEffect(frame, 'file.read', { path: file });
  if (!('text' in found))
    throw new AttemptFailed({ class: 'crash', evidence: 'none', message: `the file ${file} can't be read: ${found.detail}` });
  const display = displayPath(file, { workingDirectory: frame.run.settings.workingDirectory });
  const module = createModule({ path: file, display, directory: path.dirname(file), text: found.text, importedBy: frame.module });
  await recordSource(frame, file, module.text, 'module');
  return evaluateModule(module, file.endsWith('.md') ? 'markdown' : 'strict', frame);
}
