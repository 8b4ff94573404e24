/** Executes model calls by a function of an mlld script: `exe llm @stage(prompt, node, context)`. */
import path from 'node:path';
import { Executable } from '../../runtime/definitions/executable.js';
import { callValue } from '../../runtime/evaluator-ports.js';
import type { Frame } from '../../runtime/frame.js';
import { createModule } from '../../language/source-module.js';
import { evaluateModule } from '../../modules/evaluate-module.js';
import { displayPath } from '../../language/paths.js';
import { recordSource } from '../../operation/sources.js';
import { toJson } from '../../values/native.js';
import { textOf } from '../../values/text.js';
import { dataOf, type Value } from '../../values/value.js';
import { performEffect } from '../../operation/perform-effect.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import { modelSettingsOf } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import { statusReport } from '../stage/status-file.js';
import type { Backend } from '../stage/backend.js';

/** @param written `file.mld#name`, where the file is relative to the pipeline's */
export function executableBackend(written: string): Backend {
  const at = written.lastIndexOf('#');
  if (at < 1) throw new StageError('permanent', `the backend "exe:${written}" names no function: write exe:FILE#NAME`);
  const file = written.slice(0, at);
  const name = written.slice(at + 1).replace(/^@/, '');
  return {
    name: `exe:${written}`,
    async execute(stage, frame, { text }) {
      const { run, node, context } = stage;
      const executable = await load(path.resolve(run.fileDirectory, file), name, frame);
      const { model = null, provider = null, effort } = modelSettingsOf(run.pipeline.graph, node);
      const attributes = Object.fromEntries([...node.attributes].map(([key, { value }]) => [key, value.text]));
      const about: Value = { id: node.id, visit: stage.visit, attempt: stage.attempt, model, provider, effort, attributes };
      // The call of the stage has been looked up already: the function's own call is recorded, but not looked up again.
      const cache = { ...frame.run.cache, policy: () => ({ records: true, reuses: false }) };
      const result = await callValue(
        executable,
        [text, about, context as Value],
        { ...frame, run: { ...frame.run, cache } },
        { at: 0, called: [name] },
      );
      if (isSecret(result)) throw new StageError('permanent', secretReply(name));
      const data = dataOf(result);
      if (typeof data === 'object' && data !== null && 'outcome' in data)
        return { reply: replyIn(data), outcome: statusReport(toJson(data as Value)) };
      return { reply: textOf(result) };
    },
  };
}

/** The state of a run is plain text in the journal, in files and in the prompts of later stages, so no secret may enter it. */
function secretReply(name: string): string {
  return (
    `the reply of @${name} is labelled secret, and replies are kept in clear; if it holds no secret, remove the label: ` +
    `guard privileged after @${name} = when [ * => allow with { removeLabels: ["secret"] } ]`
  );
}

function replyIn(data: object): string {
  const { reply } = data as { readonly reply?: Value };
  return reply === undefined || reply === null ? '' : textOf(reply);
}

async function load(file: string, name: string, frame: Frame): Promise<Executable> {
  const { modules } = frame.run;
  const loading = modules.get(file) ?? loadModule(file, frame);
  modules.set(file, loading);
  const { values } = await loading;
  const value = dataOf(values.get(name));
  if (value instanceof Executable) return value;
  throw new StageError('permanent', `${file} has no function @${name}`);
}

async function loadModule(file: string, frame: Frame): ReturnType<typeof evaluateModule> {
  const found = await performEffect(frame, 'file.read', { path: file });
  if (!('text' in found)) throw new StageError('permanent', `the backend's file ${file} can't be read: ${found.detail}`);
  const display = displayPath(file, { workingDirectory: frame.run.settings.workingDirectory });
  const module = createModule({ path: file, display, directory: path.dirname(file), text: found.text, importedBy: frame.module });
  await recordSource(frame, file, module.text, 'module');
  return evaluateModule(module, file.endsWith('.md') ? 'markdown' : 'strict', frame);
}
