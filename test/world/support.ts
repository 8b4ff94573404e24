/** Makes a live world with its output kept, and short forms of effects. */
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveWorldOptions, createLiveWorld } from '../../src/world/live.js';
import type { EffectResult, EffectRequest, World } from '../../src/world/world.js';

export type CodeOptions = Partial<Omit<EffectRequest<'code.run'>, 'language' | 'code'>>;
export type CommandOptions = Partial<Omit<EffectRequest<'command.run'>, 'language' | 'code'>>;

export interface Opened {
  readonly world: World;
  readonly out: { stdout: string; stderr: string };
  js(code: string, variables?: Record<string, unknown>, options?: CodeOptions): Promise<unknown>;
  node(code: string, variables?: Record<string, unknown>, options?: CodeOptions): Promise<unknown>;
  command(language: EffectRequest<'command.run'>['language'], code: string, options?: CommandOptions): Promise<EffectResult<'command.run'>>;
}

export function openWorld(options: Partial<LiveWorldOptions> = {}): Opened {
  const out = { stdout: '', stderr: '' };
  const world = createLiveWorld({
    environment: process.env,
    stdin: async () => undefined,
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    ...options,
  });
  const code =
    (language: 'js' | 'node') =>
    async (text: string, variables: Record<string, unknown> = {}, more: CodeOptions = {}) =>
      (await world.perform('code.run', { language, code: text, variables, unset: [], echo: false, ...more })).value;
  return {
    world,
    out,
    js: code('js'),
    node: code('node'),
    command: (language, text, more = {}) =>
      world.perform('command.run', { language, code: text, directory: tmpdir(), variables: {}, ...more }),
  };
}

/** Its real path: programs print that one. */
export async function temporaryFolder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), 'mlld-world-')));
}

/** True when a process runs; false for one that ended and was not waited for. */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const { readFile } = await import('node:fs/promises');
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !/\) Z /.test(status);
}

export async function eventually(holds: () => Promise<boolean> | boolean, patienceMs = 20_000): Promise<boolean> {
  for (const end = performance.now() + patienceMs; performance.now() < end;) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}
