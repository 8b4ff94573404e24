/** Asks a function of the language: `exe llm @NAME(prompt, options)`. workflows-js.md 9. */
import path from 'node:path';
import { callFunctionOf, namedFunction, withFunctionOf } from '../../modules/called-module.js';
import { AttemptFailed } from '../../runtime/calls/call-failure.js';
import type { ResultCache } from '../../runtime/calls/result-cache.js';
import { toJson } from '../../values/native.js';
import { dataOf, type Value } from '../../values/value.js';
import type { AgentBackend } from './backend.js';

/** @param written `FILE.mld#NAME`, where the file is relative to `directory` */
export function executableBackend(written: string, directory: string): AgentBackend | undefined {
  const named = namedFunction(written);
  if (!named) return undefined;
  const file = path.resolve(directory, named.file);
  return {
    name: `exe:${written}`,
    complete: (own, frame) => withFunctionOf(own, { file, name: named.name }, frame),
    async ask(frame, { request, prompt, model }) {
      const { prompt: _prompt, asked: _asked, unknown: _unknown, ...options } = request;
      const about = { ...options, ...(model !== undefined && { model }) } as unknown as Value;
      const received: ResultCache['lookup'] = (call) => frame.run.cache.lookupInside?.(call);
      const result = await callFunctionOf({ file, name: named.name, args: [prompt, about], received }, frame, crashed);
      const data = dataOf(result);
      return typeof data === 'string' ? { text: data } : { data: toJson(result) };
    },
  };
}

/** The failure of an attempt whose module can't be used. */
export function crashed(message: string): AttemptFailed {
  return new AttemptFailed({ class: 'crash', evidence: 'none', message });
}
