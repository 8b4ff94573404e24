/** A frame in a fake world, for tests of single constructs. Nothing is recorded. */
import type { Expression, Statement } from '../../grammar/ast.js';
import { parseScript } from '../../grammar/parse.js';
import { execute } from '../../src/language/evaluate.js';
import { createModule } from '../../src/language/source-module.js';
import type { Frame } from '../../src/runtime/frame.js';
import type { ResultCache } from '../../src/runtime/calls/result-cache.js';
import { SecretRegistry } from '../../src/runtime/secrets/secret-registry.js';
import type { Settings } from '../../src/runtime/settings.js';
import { createRunState, rootFrame } from '../../src/session/script/root-frame.js';
import type { Value } from '../../src/values/value.js';
import type { World } from '../../src/world/world.js';
import { FakeWorld } from './fake-world.js';

export interface FrameOptions {
  /** Is the source around the construct: declarations of functions, for example. It is executed first. */
  readonly script?: string;
  readonly variables?: { readonly [name: string]: Value };
  readonly world?: World;
  readonly settings?: Partial<Settings>;
  readonly cache?: Partial<ResultCache>;
}

export interface TestFrame {
  readonly frame: Frame;
  /** Holds the texts that the run wrote to standard error, warnings among them. */
  readonly stderr: readonly string[];
}

const SETTINGS: Settings = {
  projectRoot: '/p',
  scriptDirectory: '/p/scripts',
  workingDirectory: '/w',
  prefixes: [{ prefix: '@lib/', basePath: '/p/src/lib' }],
  payload: {},
  injected: new Map(),
  hasState: false,
  errorBehavior: 'continue',
  streaming: true,
  recursionDepth: 64,
  parallelLimit: 4,
  hookLimitMs: 60_000,
};

/** Makes the frame of `/p/scripts/main.mld`, after its script has run. */
export async function testFrame({ script = '', variables = {}, world, settings, cache }: FrameOptions = {}): Promise<TestFrame> {
  const stderr: string[] = [];
  const run = createRunState({
    world: world ?? new FakeWorld(),
    recorder: { on: false, post: () => undefined, append: async () => undefined },
    cache: { policy: () => ({ records: false, reuses: false }), ...cache } as ResultCache,
    secrets: new SecretRegistry(),
    document: {
      show: async () => undefined,
      prose: async () => undefined,
      write: async () => undefined,
      note: () => undefined,
      text: () => '',
    },
    settings: { ...SETTINGS, ...settings },
    state: undefined,
    signal: new AbortController().signal,
    options: { io: { stderr: (text: string) => void stderr.push(text), monotonicMs: () => 0 } as never },
  });
  const module = createModule({
    path: '/p/scripts/main.mld',
    display: 'scripts/main.mld',
    directory: '/p/scripts',
    text: script,
    isMain: true,
  });
  for (const [name, value] of Object.entries(variables)) module.scope.define({ name, value, kind: 'var' });
  const frame = rootFrame(run, module, execute);
  await execute(parseScript(script, { mode: 'strict' }).statements, frame);
  return { frame, stderr };
}

/** Parses the right side of a `var`. */
export function expression(source: string): Expression {
  const [node] = parseScript(`var @it = ${source}`, { mode: 'strict' }).statements;
  return (node as Statement & { kind: 'var' }).value;
}

/** Parses an expression and narrows it to its kind, which the caller knows from the source. */
export function expressionOf<K extends Expression['kind']>(kind: K, source: string): Extract<Expression, { kind: K }> {
  const node = expression(source);
  if (node.kind !== kind) throw new Error(`${source} is a ${node.kind}, not a ${kind}`);
  return node as Extract<Expression, { kind: K }>;
}
