/** A script starts no program by the backend that it names. workflows-js.md 14. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectFolder } from '../support/cli.js';
import { runScript } from './run-script.js';

const META = "export const meta = { name: 'job', description: 'x' }\n";

it.each(['cmd:touch made', 'cmd: touch made', ' cmd:touch made', 'exe:make.mld#make', 'claude:--dangerously-skip-permissions', 'sh:-c x'])(
  'refuses %s, which the user did not name',
  async (backend) => {
    const root = await projectFolder({ 'make.mld': '/exe llm @make(p, o) = sh { touch made }\n/export { @make }\n' });
    writeFileSync(join(root, 'job.js'), `${META}return await agent('q', { backend: ${JSON.stringify(backend)} })`);
    const { report } = await runScript(root, { backend: 'cmd:cat' });
    expect(report).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/^TypeError: .*may not choose/) as string } });
    expect((await runScript(root)).result).toContain('[Simulated]');
    expect(existsSync(join(root, 'made'))).toBe(false);
  },
);

it('asks a command that the configuration or the command line names', async () => {
  const root = await projectFolder({});
  writeFileSync(
    join(root, 'job.js'),
    `${META}return [await agent('q', { backend: 'cmd:echo a' }), await agent('q', { backend: 'cmd:cat' })]`,
  );
  const { result } = await runScript(root, { backend: 'cmd:cat', agent: { backends: ['cmd:echo a'] } });
  expect(JSON.parse(result)).toEqual(['a', 'q']);
});
