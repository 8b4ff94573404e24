/** Scripts and pipelines are checked from a program as `mlld validate` checks them. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { validatePipeline, validateScript } from '../../src/api/index.js';
import { callCli } from '../support/in-process/call-cli.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mlld-validate-')));
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  writeFileSync(path.join(folder, 'tide.mld'), 'import { @rise } from "./moon.mld"\nshow @fall\nshow @rise\n');
  writeFileSync(path.join(folder, 'moon.mld'), 'var @other = 1\nexport { @other }\n');
  writeFileSync(path.join(folder, 'crate.dot'), 'digraph crate { start [shape=Mdiamond]; done [shape=Msquare]; start -> nowhere }\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function printed(...argv: string[]): Promise<unknown> {
  return JSON.parse((await callCli(['validate', ...argv, '--json'], { cwd: folder })).stdout);
}

describe('what is checked from a program', () => {
  it('is what the command prints', async () => {
    const request = { file: 'tide.mld', workingDirectory: folder };
    expect(await validateScript(request)).toEqual(await printed('tide.mld'));
    expect(await validateScript({ ...request, depth: 'deep' })).toEqual(await printed('tide.mld', '--deep'));
    expect(await validatePipeline({ file: 'crate.dot', workingDirectory: folder })).toEqual(await printed('crate.dot'));
  });

  it('may be a text that is not in a file yet', async () => {
    const broken = await validateScript({ file: 'new.mld', text: 'show "', workingDirectory: folder });
    expect(broken).toMatchObject({ valid: false, errors: [{ line: 1 }] });
    const { ok, diagnostics } = await validatePipeline({
      file: 'new.dot',
      text: 'digraph one { start [shape=Mdiamond]; done [shape=Msquare]; start -> done }',
      rules: [() => [{ rule: 'house', severity: 'error', message: 'no pipelines today', at: 0 }]],
    });
    expect([ok, diagnostics.map(({ rule }) => rule)]).toEqual([false, ['house']]);
  });

  it('has to be there, and of a kind that is known', async () => {
    await expect(validateScript({ file: 'none.mld', workingDirectory: folder })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(validatePipeline({ file: 'none.dot', workingDirectory: folder })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    await expect(validateScript({ file: 'tide.txt' })).rejects.toMatchObject({ code: 'BAD_OPTION' });
    await expect(validateScript({ file: 3 as unknown as string })).rejects.toMatchObject({ code: 'BAD_OPTION' });
  });
});
