/** Completion in the shells themselves: what a user sees after Tab, and that no name is ever executed. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectFolder, runCli } from '../../support/cli.js';
import { checkpointTarget } from '../../../replay/resume/selector.js';

const PROGRAM = fileURLToPath(new URL('../../../dist/mlld.cjs', import.meta.url));
const NASTY = [
  'it\'s "quoted"',
  '$(touch executed)',
  '`touch executed`',
  '; touch executed',
  'a b!c',
  'back\\slash',
  '*',
  '~',
  '-x',
  '#not a comment',
];

let cwd: string;
let run: string;

beforeAll(async () => {
  const checkpoints = ['after collecting', 'after reading', ...NASTY, 'with\nline end', 'with \u001b[31mcolour'];
  const script = `exe llm @review(q) = sh { echo "$q" }
exe llm @rank(q) = sh { echo "$q" }
show @review("a")
show @rank("b")
${checkpoints.map((name) => `checkpoint ${JSON.stringify(name).replaceAll('\\u001b', '\u001b')}\n`).join('')}`;
  cwd = await projectFolder({
    'llm/run/nightly.mld': script,
    'llm/run/nice $(touch executed).mld': 'show "x"\n',
    'release.dot':
      'digraph release { start [shape=Mdiamond]; build [shape=parallelogram, tool_command="true"]; end [shape=Msquare]; start -> build -> end }\n',
    'home/bin/mlld': `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)} "$@"\n`,
  });
  await fs.chmod(path.join(cwd, 'home/bin/mlld'), 0o755);
  expect(await runCli(['run', 'nightly'], { cwd })).toMatchObject({ status: 0 });
  expect(await runCli(['run', 'release.dot'], { cwd })).toMatchObject({ status: 0 });
  const runs = JSON.parse((await runCli(['journal', 'list', 'nightly', '--json'], { cwd })).stdout) as { run: string }[];
  run = runs[0]?.run ?? '';
});

function shell(name: string, ...argv: string[]): string {
  const env = { PATH: `${path.join(cwd, 'home/bin')}:${process.env['PATH'] ?? ''}`, HOME: path.join(cwd, 'home'), TERM: 'dumb' };
  return execFileSync(name, argv, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Returns what bash inserts for `replaced`, the end of the line: bash splits words at `@`, `:` and `=` as well. */
function inBash(line: string, replaced = /[^ @:='"]*$/.exec(line)?.[0] ?? ''): readonly string[] {
  const program = `set -u; source <(mlld completion bash)
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=($1) COMP_CWORD=1
_mlld mlld "$2" ''
printf '%s\\n' \${COMPREPLY[@]+"\${COMPREPLY[@]}"}`;
  return shell('bash', '-c', program.replaceAll('COMP_WORDS=($1)', 'COMP_WORDS=(mlld "")'), 'bash', line, replaced)
    .split('\n')
    .filter((found) => found !== '');
}

function has(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0;
}

describe('completion in bash', () => {
  it.each([
    ['mlld jour', ['journal']],
    ['mlld journal re', ['replay', 'redact', 'reject', 'report']],
    ['mlld run ni', ["'nice $(touch executed)'", "'nightly'"]],
    ['mlld run nightly --keep', ['--keep-files', '--keep-orphans']],
    ['mlld run nightly --changed ask', ['ask', 'ask-guards']],
    ['mlld run nightly --changed=ask-', ['ask-guards']],
    ['mlld journal export latest --format c', ['chrome-trace', 'csv']],
    ['mlld completion ', ['bash', 'zsh', 'fish']],
    ['mlld run nightly --resume @r', ['review', 'rank']],
    ["mlld run nightly --resume '@re", ['review']],
    ['mlld run nightly --resume "after re', ['after reading']],
    ['mlld run nightly --resume after', ["'after collecting'", "'after reading'"]],
    ['mlld run nightly --resume fai', ['failed']],
    ['mlld run nightly --resume main/r', ["'main/review#0'", "'main/rank#0'"]],
    ['mlld run release.dot --resume b', ['build']],
    ['mlld checkpoint list ni', ['nightly']],
    ['mlld run rel', ['release.dot']],
    ['mlld run nightly -- --chan', []],
    ['mlld help jour', ['journal']],
    ['mlld help journal ver', ['verify']],
  ])('%s', (line, expected) => {
    const replaced = line.includes('"after') ? 'after re' : undefined;
    expect(inBash(line, replaced)).toEqual(expected);
  });

  it('knows run ids', () => {
    expect(inBash(`mlld journal show ${run.slice(0, 12)}`)).toContain(run);
    expect(inBash('mlld journal show la')).toEqual(['latest']);
  });

  it('offers the operations of a run step by step', () => {
    expect(inBash(`mlld journal explain ${run} `).length).toBeGreaterThan(0);
  });

  it.each([[''], ["'"], ['"']])('writes a name with any characters as the text it is, behind %j', async (quote) => {
    const found = inBash(`mlld run nightly --resume ${quote}`, '');
    const read = found.map((word) => shell('bash', '-c', `printf '%s' ${quote}${word}${quote}`));
    for (const name of NASTY) expect(read).toContain(checkpointTarget(name));
    expect(read.join()).not.toMatch(/line end|colour/); // control characters can't be typed
    await expect(fs.access(path.join(cwd, 'executed'))).rejects.toThrow();
  });

  it('does not execute what was typed', async () => {
    inBash('mlld run $(touch executed) --');
    inBash('mlld run "`touch executed`');
    await expect(fs.access(path.join(cwd, 'executed'))).rejects.toThrow();
  });

  it('says nothing where the project is broken', async () => {
    const broken = await projectFolder({ 'mlld-config.json': '{' });
    expect(await runCli(['complete', '--', 'run', ''], { cwd: broken })).toEqual({ stdout: '', stderr: '', status: 0 });
    expect(await runCli(['complete'], { cwd: broken })).toMatchObject({ stderr: '', status: 0 });
  });
});

describe.skipIf(!has('fish'))('completion in fish', () => {
  const inFish = (line: string): readonly string[] =>
    shell('fish', '--no-config', '-c', 'mlld completion fish | source; complete -C "$argv[1]"', line)
      .split('\n')
      .filter((found) => found !== '')
      .map((found) => found.split('\t')[0] ?? '');

  it('completes commands, flags and names', async () => {
    expect(inFish('mlld jour')).toEqual(['journal']);
    expect(inFish('mlld run nightly --keep-f')).toEqual(['--keep-files']);
    expect(inFish('mlld run nightly --resume @rev')).toEqual(['@review']);
    expect(inFish('mlld run ').join()).toContain('touch executed');
    expect(inFish('mlld run nightly --resume ').length).toBeGreaterThan(NASTY.length);
    await expect(fs.access(path.join(cwd, 'executed'))).rejects.toThrow();
  });
});

describe.skipIf(!has('zsh'))('completion in zsh', () => {
  it('is a script that zsh reads', () => {
    expect(
      shell('zsh', '-f', '-c', 'autoload -Uz compinit && compinit -u -D && source <(mlld completion zsh) && print ${_comps[mlld]}'),
    ).toBe('_mlld\n');
  });

  it('hands the candidates over as data', async () => {
    const program = `autoload -Uz compinit && compinit -u -D; source <(mlld completion zsh)
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "\${(P@)1}"; }
words=(mlld run nightly --resume '') CURRENT=5; _mlld`;
    const found = shell('zsh', '-f', '-c', program).split('\n');
    for (const name of [...NASTY, '@review', 'after reading']) expect(found).toContain(name);
    await expect(fs.access(path.join(cwd, 'executed'))).rejects.toThrow();
  });
});
