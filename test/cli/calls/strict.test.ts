/** `--strict`: warnings of the check before a run are errors. world.md 17.2 and 19. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const warned = 'show `hello @nobody`\n';

describe('--strict', () => {
  it.each([
    ['mlld FILE', ['main.mld']],
    ['mlld -e', ['-e', warned]],
    ['mlld /dev/stdin', ['/dev/stdin']],
    ['mlld run NAME', ['run', 'main']],
  ])('refuses a script with warnings, and runs nothing: %s', async (_, words) => {
    const cwd = await projectFolder({ 'main.mld': warned, 'llm/run/main.mld': warned });
    const { stdout, stderr, status } = await callCli([...words, '--strict'], { cwd, stdin: warned });
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 });
    expect(stderr).toContain('@nobody undefined variable');
    expect(stderr).toMatch(/error: --strict: a warning is an error; nothing was run\n$/);
    const { stdout: loose, status: looseStatus } = await callCli(words, { cwd, stdin: warned });
    expect({ loose, looseStatus }).toEqual({ loose: 'hello @nobody\n', looseStatus: 0 });
  });

  it('counts the warnings of imported files of the project, and none of packages', async () => {
    const module = 'exe @greet(name) = `@name of @nowhere`\nexport { @greet }\n';
    const main = (from: string): string => `import { @greet } from "${from}"\nshow @greet("Bo")\n`;
    const cwd = await projectFolder({
      'own.mld': main('./lib/greet.mld'),
      'lib/greet.mld': module,
      'foreign.mld': main('./node_modules/kit/greet.mld'),
      'node_modules/kit/greet.mld': module,
    });
    expect((await callCli(['own.mld', '--strict'], { cwd })).status).toBe(1);
    expect(await callCli(['foreign.mld', '--strict'], { cwd })).toMatchObject({ stdout: 'Bo of @nowhere\n', status: 0 });
  });

  it('knows the files of the project from every folder, and the folder of published modules', async () => {
    const module = 'exe @greet(name) = `@name of @nowhere`\nexport { @greet }\n';
    const cwd = await projectFolder({
      'mlld-config.json': '{"modules": {"folder": "vendor/mlld"}}',
      'llm/run/own.mld': 'import { @greet } from "@root/lib/greet.mld"\nshow @greet("Bo")\n',
      'lib/greet.mld': module,
      'shared/greet.mld': module,
      'llm/run/published.mld': 'import { @greet } from @m/greet\nshow @greet("Bo")\n',
    });
    await callCli(['modules', 'add', 'shared/greet.mld', '--as', '@m/greet'], { cwd });
    const inFolder = { cwd: path.join(cwd, 'llm') };
    expect((await callCli(['run', 'own'], inFolder)).stderr).toContain('greet.mld:1:30 - @nowhere undefined variable');
    expect((await callCli(['run', 'own', '--strict'], inFolder)).status).toBe(1);
    for (const folder of [{ cwd }, inFolder]) {
      const { status, stderr } = await callCli(['run', 'published', '--strict'], folder);
      expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('warning') as string });
    }
  });

  it('lets a script without warnings run', async () => {
    const cwd = await projectFolder({ 'main.mld': 'show `t=@payload.topic`\n' });
    expect(await callCli(['main.mld', '--strict', '--topic', 'tides'], { cwd })).toEqual({ stdout: 't=tides\n', stderr: '', status: 0 });
  });

  it('is a flag of the script as well, where the script reads it', async () => {
    const source = 'show `strict=@payload.strict`\n';
    const cwd = await projectFolder({ 'main.mld': source, 'llm/run/main.mld': source });
    expect((await callCli(['main.mld', '--strict'], { cwd })).stdout).toBe('strict=true\n');
    expect((await callCli(['run', 'main', '--strict'], { cwd })).stdout).toBe('strict=true\n');
  });

  it('makes mlld validate fail on warnings, in files, folders and pipelines', async () => {
    const cwd = await projectFolder({
      'src/main.mld': warned,
      'gate.dot':
        'digraph kiln {\n  goal="dry"\n  start [shape=Mdiamond]\n  fire [shape=box, prompt="x", goal_gate="true"]\n  exit [shape=Msquare]\n  start -> fire -> exit\n}\n',
    });
    for (const target of ['src/main.mld', 'src', 'gate.dot']) {
      expect((await callCli(['validate', target], { cwd })).status).toBe(0);
      expect((await callCli(['validate', target, '--strict'], { cwd })).status).toBe(1);
    }
  });
});
