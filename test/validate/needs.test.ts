/** `needs { … }`, compared with what is there. world.md 11.6. */
import { describe, expect, it } from 'vitest';
import { analyze, type Texts } from './support/files-in-memory.js';

const host: Texts = {
  '/bin/git': '#!/bin/sh',
  '/bin/notes': 'text',
  'tool.sh': '#!/bin/sh',
  'node_modules/@scope/x/package.json': '{}',
  '/node_modules/lodash/package.json': '{}',
};

async function complaints(source: string, texts: Texts = {}, settings = {}): Promise<readonly string[]> {
  const { warnings = [] } = await analyze({ ...host, ...texts, 'main.mld': source }, settings);
  return warnings.map(({ message, file, line, column, code }) => `${file ?? ''}${line}:${column} ${code} ${message}`);
}

describe('needs', () => {
  it.each([
    'needs { js, node, network, cmd: [git], cmd: * }',
    'needs { cmd: { git: { subcommands: [status] } }, "cmd": "git" }',
    'needs { cmd: [./tool.sh], nosuch: false }',
    'needs { node: [lodash@^4, "@scope/x@>=1.0", fs, node:path] }',
    'needs { js: { lodash: "^4" }, node: ">=18", runtimes: { node: ">=20" } }',
    'needs { cmd: git }\nneeds { packages: { node: [lodash], npm: [] } }\nneeds {}',
  ])('finds everything: %s', async (source) => {
    expect(await complaints(source)).toEqual([]);
  });

  it.each([
    ['needs { cmd: [git, nosuch] }', '1:20 missing-need needs: the program nosuch is not on PATH: install it, or add its folder to PATH'],
    ['needs { cmd: notes }', '1:14 missing-need needs: the program notes is not on PATH: install it, or add its folder to PATH'],
    ['needs { py: [requests] }', '1:9 missing-need needs: the program python3 is not on PATH: install it, or add its folder to PATH'],
    [
      'needs { packages: { node: [left@2] } }',
      '1:28 missing-need needs: the package left is in no node_modules folder at or above the script: npm install left',
    ],
    ['needs { node: ["../../etc"] }', '1:16 missing-need needs: "../../etc" is not the name of a package'],
    ['needs { cmd: ["$(id)"] }', '1:15 missing-need needs: "$(id)" is not the name of a program: write it without arguments'],
    ['needs { bsh }', '1:9 missing-need needs: mlld does not know "bsh": did you mean sh?'],
  ])('warns of what is missing: %s', async (source, message) => {
    expect(await complaints(source)).toEqual([message]);
  });

  it('checks imported modules with --deep', async () => {
    const texts = { 'lib.mld': 'needs { cmd: [nosuch] }\nvar @a = 1' };
    expect(await complaints('import { a } from "./lib"\nshow @a', texts)).toEqual([]);
    expect(await complaints('import { a } from "./lib"\nshow @a', texts, { depth: 'deep' })).toEqual([
      'lib.mld1:15 missing-need needs: the program nosuch is not on PATH: install it, or add its folder to PATH',
    ]);
  });

  it.each([
    ['needs: [sh, nosuch]', '2:1 missing-need needs: mlld does not know "nosuch": known are'],
    ['about: x\nneeds: { cmd: [git, nosuch], node: { left: "^1" } }', '3:1 missing-need needs: the program nosuch is not on PATH'],
    ['needs:\n  - sh\n  - cmd: nosuch', '2:1 missing-need needs: the program nosuch is not on PATH'],
    ['needs: ["', '3:1 syntax Invalid YAML: '],
  ])('reads the frontmatter as well: %s', async (yaml, expected) => {
    const texts = { 'main.mld': `---\n${yaml}\n---\nshow "1"` };
    const { errors = [], warnings = [] } = await analyze({ ...host, ...texts });
    const found = [...errors, ...warnings].map(({ message, line, column, code }) => `${line}:${column} ${code} ${message}`);
    expect(found.join('\n')).toContain(expected);
  });

  it('names once what frontmatter and statements repeat, at the statement', async () => {
    const script = '---\nneeds: { cmd: [nosuch, git] }\n---\nneeds { cmd: [nosuch] }\nneeds { cmd: nosuch }\nshow "1"';
    expect(await complaints(script)).toEqual([
      '4:15 missing-need needs: the program nosuch is not on PATH: install it, or add its folder to PATH',
    ]);
    const { needs } = await analyze({ ...host, 'main.mld': script });
    expect(needs).toEqual([
      { kind: 'program', name: 'git' },
      { kind: 'program', name: 'nosuch' },
    ]);
  });

  it('says what a module is', async () => {
    const text = '---\nname: fmt\nauthor: m\nversion: 1.2.0\nabout: brackets\nneeds: sh\n---\nshow "1"';
    const { module, needs } = await analyze(text);
    expect({ module, needs }).toEqual({
      module: { name: '@m/fmt', version: '1.2.0', about: 'brackets' },
      needs: [{ kind: 'program', name: 'sh' }],
    });
    expect(await analyze('---\ntitle: x\n---\nshow "1"')).not.toHaveProperty('module');
  });

  it('does not look for programs where there is no PATH', async () => {
    expect(await complaints('needs { cmd: [nosuch] }', {}, { searchPath: undefined })).toEqual([]);
  });

  it('is in the report', async () => {
    const { needs } = await analyze('needs { sh, node: [lodash@1], py: [numpy] }');
    expect(needs).toEqual([
      { kind: 'program', name: 'sh' },
      { kind: 'node-package', name: 'lodash' },
      { kind: 'program', name: 'python3' },
      { kind: 'unchecked', name: 'numpy' },
    ]);
  });

  it('is silent when it runs', async () => {
    const { runScript } = await import('../support/in-fake-world.js');
    const run = await runScript('needs { cmd: [nosuch] }\nshow "ok"', {});
    expect(run).toMatchObject({ shown: 'ok\n' });
  });
});
