/** Executes model calls by a function of an mlld script: `exe llm @stage(prompt, node, context)`. */
import path from 'node:path';
import { callFunctionOf, namedFunction, withFunctionOf } from '../../modules/called-module.js';
import { toJson } from '../../values/native.js';
import { textOf } from '../../values/text.js';
import { dataOf, type Value } from '../../values/value.js';
import { isSecret } from '../../runtime/secrets/secret-registry.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import { modelSettingsOf } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import { statusReport } from '../stage/status-file.js';
import type { OwnBackend } from '../stage/backend.js';

/** @param written `file.mld#name`, where the file is relative to the pipeline's */
export function executableBackend(written: string): OwnBackend {
  const named = namedFunction(written);
  if (!named) throw new StageError('permanent', `the backend "exe:${written}" names no function: write exe:FILE#NAME`);
  const { file, name } = named;
  return {
    name: `exe:${written}`,
    complete: (own, { run }, frame) => withFunctionOf(own, { file: path.resolve(run.fileDirectory, file), name }, frame),
    async execute(stage, frame, { text }) {
      const { run, node, context } = stage;
      const { model = null, provider = null, effort } = modelSettingsOf(run.pipeline.graph, node);
      const attributes = Object.fromEntries([...node.attributes].map(([key, { value }]) => [key, value.text]));
      const about: Value = { id: node.id, visit: stage.visit, attempt: stage.attempt, model, provider, effort, attributes };
      const received: ResultCache['lookup'] = (call) => frame.run.cache.lookupInside?.(call);
      const called = { file: path.resolve(run.fileDirectory, file), name, args: [text, about, context as Value], received };
      const result = await callFunctionOf(called, frame, (message) => new StageError('permanent', message));
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
