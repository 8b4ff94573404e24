/** The extension for VS Code, as it is packed. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { beforeAll, describe, expect, it } from 'vitest';
import { PROJECT } from '../support/source-files.js';

interface Contributions {
  readonly languages: readonly { readonly id: string; readonly extensions: readonly string[]; readonly configuration?: string }[];
  readonly grammars: readonly { readonly language: string; readonly scopeName: string; readonly path: string }[];
  readonly snippets: readonly { readonly language: string; readonly path: string }[];
}

let folder: string;
let files: { readonly [name: string]: string };

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vsix-'));
  const vsix = path.join(folder, 'mlld.vsix');
  execFileSync(process.execPath, [path.join(PROJECT, 'editors/vscode/pack.mjs'), vsix]);
  const entries = Object.entries(unzipSync(readFileSync(vsix)));
  files = Object.fromEntries(entries.map(([name, bytes]) => [name, strFromU8(bytes)]));
});

const json = (name: string): unknown => JSON.parse(files[`extension/${path.posix.normalize(name)}`] ?? '');

describe('the packed extension', () => {
  it('has the manifests of a vsix, with the version of mlld', () => {
    const { version } = JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as { version: string };
    expect(files['extension.vsixmanifest']).toContain(`Id="mlld" Version="${version}" Publisher="mlld"`);
    expect(json('package.json')).toMatchObject({ name: 'mlld', version, main: './client.js' });
    for (const name of Object.keys(files).filter((each) => each !== '[Content_Types].xml'))
      expect(files['[Content_Types].xml']).toContain(`Extension="${path.extname(name)}"`);
  });

  it('has each file that it names, in valid JSON, and the grammars of their scopes', () => {
    const { languages, grammars, snippets } = (json('package.json') as { contributes: Contributions }).contributes;
    const named = new Set(languages.map(({ id }) => id));
    expect(languages.flatMap(({ extensions }) => extensions)).toEqual(expect.arrayContaining(['.mld', '.mld.md', '.att']));
    for (const { configuration } of languages) if (configuration !== undefined) expect(json(configuration)).toBeTypeOf('object');
    for (const { language, scopeName, path: file } of grammars) {
      expect(named).toContain(language);
      expect((json(file) as { scopeName: string }).scopeName).toBe(scopeName);
    }
    for (const { path: file } of snippets)
      for (const { prefix, body } of Object.values(json(file) as Record<string, { prefix: string; body: string[] }>))
        expect([prefix, body.length]).not.toContain(0);
  });

  it('includes only rules that the grammar of the language has', () => {
    const { repository } = json('syntaxes/mlld.tmLanguage.json') as { repository: object };
    for (const file of ['template', 'document']) {
      const includes = (files[`extension/syntaxes/${file}.tmLanguage.json`] ?? '').matchAll(/"source\.mlld#(\w+)"/g);
      for (const [, rule] of includes) expect(Object.keys(repository)).toContain(rule);
    }
  });

  it('starts the server, and says so when it can not', () => {
    const client = path.join(folder, 'client.js');
    writeFileSync(client, files['extension/client.js'] ?? '');
    const program = path.join(folder, 'bin', 'mlld');
    mkdirSync(path.dirname(program));
    const log = path.join(folder, 'argv');
    writeFileSync(program, `#!/bin/sh\necho "$@" >> '${log}'\nexec '${process.execPath}' '${path.join(PROJECT, 'dist/mlld.cjs')}' "$@"\n`);
    chmodSync(program, 0o755);
    const fake = path.join(PROJECT, 'test/editor/support/fake-vscode.cjs');
    expect(execFileSync(process.execPath, [fake, client, program], { encoding: 'utf8' })).toBe('started\n');
    expect(readFileSync(log, 'utf8')).toBe('lsp\n');
    const missing = execFileSync(process.execPath, [fake, client, path.join(folder, 'nothing')], { encoding: 'utf8' });
    expect(missing).toMatch(/nothing failed[^]*names the program to start for mlld: it is \S*nothing\n/);
  });
});
