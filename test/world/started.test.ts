/** PROCESS-7: a command gets its input only when its process is recorded; and processes are found again. */
import { readFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { build } from 'esbuild';
import { expect, it, vi } from 'vitest';
import { processStatus } from '../../journal/storage/processes.js';
import { listedProcesses } from '../../src/world/process/orphans.js';
import type { EffectRequest, StartedProcess } from '../../src/world/world.js';
import { openWorld, temporaryFolder } from './support.js';

vi.setConfig({ testTimeout: 60_000 }); // the machine may be busy

const CODE: { readonly [language in EffectRequest<'command.run'>['language']]: string } = {
  cmd: 'echo ran >> ran; wc -c',
  sh: 'echo ran >> ran; wc -c',
  bash: 'echo ran >> ran; wc -c',
  py: 'import sys\nopen("ran", "a").write("ran\\n")\nprint(len(sys.stdin.read()))',
};
const LANGUAGES = Object.keys(CODE) as (keyof typeof CODE)[];
const padded = (language: keyof typeof CODE): string => `${CODE[language]}\n#${'c'.repeat(200_000)}`;

it.each(LANGUAGES.flatMap((language) => [[language, CODE[language]] as const, [language, padded(language)] as const]))(
  'does nothing of a %s body before its process is recorded',
  async (language, code) => {
    const { world } = openWorld();
    const directory = await temporaryFolder();
    let record: () => void = () => undefined;
    let process: StartedProcess | undefined;
    const onStarted = (started: StartedProcess): Promise<void> => {
      process = started;
      return new Promise((resolve) => (record = resolve));
    };
    const running = world.perform('command.run', { language, code, directory, variables: {}, stdin: 'buoys' }, { onStarted });
    await vi.waitFor(() => expect(process).toBeDefined());
    expect(process).toMatchObject({ started: processStatus(process?.group ?? 0)?.started });
    await delay(300);
    await expect(readFile(join(directory, 'ran'))).rejects.toMatchObject({ code: 'ENOENT' });
    record();
    expect((await running).stdout.trim()).toBe('5');
    expect(await readFile(join(directory, 'ran'), 'utf8')).toBe('ran\n');
    await world.close('done');
  },
);

it.each(LANGUAGES)('does nothing of a %s body when mlld is killed before its process is recorded', async (language) => {
  const directory = await temporaryFolder();
  const live = join(directory, 'live.mjs');
  const entryPoints = [join(import.meta.dirname, '../../src/world/live.ts')];
  await build({ entryPoints, outfile: live, bundle: true, platform: 'node', format: 'esm' });
  const request = { language, code: CODE[language], directory, variables: {} };
  const program = `
    import { createLiveWorld } from ${JSON.stringify(live)};
    const world = createLiveWorld({ environment: process.env, stdin: async () => undefined, stdout() {}, stderr() {} });
    const onStarted = ({ group }) => (console.log(group), new Promise(() => setTimeout(() => undefined, 60_000)));
    void world.perform('command.run', ${JSON.stringify(request)}, { onStarted });
  `;
  const mlld = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [chunk] = (await once(mlld.stdout, 'data')) as [Buffer];
  mlld.kill('SIGKILL');
  await vi.waitFor(() => expect(processStatus(Number(chunk))?.isDead ?? true).toBe(true), { timeout: 20_000 });
  await expect(readFile(join(directory, 'ran'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('knows the processes of a system without /proc by their number, group and start', async () => {
  const beforeMs = Date.now();
  const child = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
  const behindMs = Date.now();
  const found = (await listedProcesses()).find(({ pid }) => pid === child.pid);
  child.kill('SIGKILL');
  expect(found?.group).toBe(child.pid);
  // Such systems tell whole seconds.
  expect(found?.startedMs).toBeGreaterThan(beforeMs - 2000);
  expect(found?.startedMs).toBeLessThan(behindMs + 2000);
});
