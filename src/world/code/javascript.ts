/** Runs `js` bodies as functions of this process, compiled once. Not a sandbox: a script's code belongs to its user. */
import { createCodeCache } from './code-cache.js';
import { type Realm, realmOf } from './compile-code.js';
import type { Importing } from './importing.js';
import { CapturedOutput, type CodeHost, callFacts, checkDirectory, guardedProcess, thrown } from './code-globals.js';
import type { EffectOptions, EffectRequest, EffectResult } from '../world.js';

type CodeRequest = EffectRequest<'code.run'>;

export interface CodeRunner {
  /** `deadline` limits this body, beside that of the whole run. `report` receives what it says about the call around it. */
  run(request: CodeRequest, options?: Pick<EffectOptions, 'deadline' | 'report' | 'traceparent'>): Promise<EffectResult<'code.run'>>;
}

export function createJavaScript(host: CodeHost, importing: () => Importing): CodeRunner {
  let realm: Realm | undefined;
  const cache = createCodeCache({
    realm: () => (realm ??= realmOf(Function, importing())),
    ambient: ['console', 'mlld', 'mx', 'process', 'require'],
    shadowTiming: 'sync',
    host,
  });
  const processes = new Map<string | undefined, NodeJS.Process>();
  const directories = new Set<string>();

  function processIn(directory: string | undefined): NodeJS.Process {
    let made = processes.get(directory);
    if (!made) processes.set(directory, (made = guardedProcess(host, directory)));
    return made;
  }

  return {
    async run(request, options = {}) {
      checkDirectory(directories, request.directory);
      const output = new CapturedOutput(host, request.echo);
      const globals = (word: string): unknown => {
        if (word === 'console') return output.console;
        if (word === 'process') return processIn(request.directory);
        if (word === 'mlld') return callFacts(request, options);
        if (word === 'mx') return request.mx;
        return undefined; // `require` belongs to `node` bodies, also where this file is bundled as a module that has one.
      };
      try {
        const value = await cache.call(request, globals, options.deadline);
        return { value, log: output.log };
      } catch (error) {
        throw thrown(error, cache.placeOf(request, error));
      }
    },
  };
}
