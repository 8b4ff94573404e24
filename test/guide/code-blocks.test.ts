/**
 * Each block of code in README and the documents is read by what will read it, so that no page shows a setting that does not exist or text
 * that does not parse. Commands and outputs have tests of their own: `documented-commands.test.ts`, `documents.test.ts`.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parse as parseModule } from 'acorn';
import { transformSync } from 'esbuild';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';

import { parseScript } from '../../grammar/parse.js';
import { readConfig } from '../../src/session/project-config.js';
import { PROJECT } from '../support/source-files.js';
import { commandsIn } from './documented.js';

interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const BLOCKS: readonly Block[] = ['README.md', ...globSync('docs/*.md', { cwd: PROJECT }).sort()].flatMap((page) => {
  const text = readFileSync(path.join(PROJECT, page), 'utf8');
  return [...text.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].flatMap(({ 1: language = '', 2: inside = '', index }) =>
    // Files and outputs are part of a story that is played.
    language.includes('file=') || /^\$ /m.test(inside)
      ? []
      : [{ page, line: text.slice(0, index).split('\n').length, language, text: inside }],
  );
});

/** Throws for a text that its reader refuses. */
const READERS: { readonly [language: string]: (text: string) => void } = {
  mlld: (text) => void parseScript(text, { mode: 'strict' }),
  json: readSettings,
  yaml: (text) => void parseYaml(text.replaceAll(/^---$/gm, '')),
  js: (text) => void parseModule(text, { ecmaVersion: 'latest', sourceType: 'module' }),
  ts: (text) => void transformSync(text, { loader: 'ts' }),
  sh: commandLines,
  fish: commandLines,
};

/** Holds, for a language that nothing here reads, why. */
const UNREAD: { readonly [language: string]: string } = {
  text: 'pictures of folders, and outputs of the programs of library.md, which documented-programs.test.ts compares',
  bash: 'the start-up file of a shell, or a loop over a journal of the reader',
  zsh: 'the start-up file of a shell',
  lua: 'the settings of an editor',
  toml: 'the settings of an editor',
};

/** Holds, by the beginning of a line that is not a command of mlld and that no test executes, why. */
const OTHER_LINES: { readonly [start: string]: string } = {
  'npm run demo': 'installs and builds the repository, which CI does',
  'npm test': 'would begin the tests again',
  'npm ci && npm run vscode': 'test/editors packs the extension',
  'code --install-extension': 'needs VS Code',
  'jq ': 'reads a journal of the reader with a program that may not be there',
  'grep -ao': 'reads a pack of the reader with programs that may not be there',
  'export OTEL_EXPORTER': 'names a collector of the reader',
  'export MLLD_STORE': 'names a server of the reader',
  'echo "$(mlld run patrol': 'needs at, which runs it at night',
  'systemd-run': 'needs systemd, which runs it at night',
  'initdb ': 'makes a server that is not a user of this machine',
  'pg_ctl ': 'starts and stops that server',
  'createdb ': 'asks that server',
};

it.each(BLOCKS)('$page:$line can be read as $language', ({ language, text }) => {
  const reader = READERS[language === '' ? 'sh' : language];
  if (reader === undefined) expect(UNREAD).toHaveProperty(language);
  else expect(() => reader(text)).not.toThrow();
});

it('lists no exemption that no page needs', () => {
  const lines = BLOCKS.flatMap(({ text }) => text.split('\n'));
  expect(Object.keys(OTHER_LINES).filter((start) => !lines.some((line) => line.startsWith(start)))).toEqual([]);
  expect(Object.keys(UNREAD).filter((each) => !BLOCKS.some(({ language }) => language === each))).toEqual([]);
});

const SETTINGS = ['scriptDir', 'resolvers', 'validate', 'modules', 'calls', 'agent', 'store', 'record'];

/** Objects are settings of a project, or the index of a registry, whose modules have names with `@`. */
function readSettings(text: string): void {
  const settings = JSON.parse(text) as { readonly [name: string]: object };
  if (Object.keys(settings['modules'] ?? {}).some((name) => name.startsWith('@'))) return;
  const unknown = Object.keys(settings).filter((name) => !SETTINGS.includes(name));
  if (unknown.length > 0) throw new Error(`mlld reads no setting ${unknown.join(', ')}`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'mlld-settings-'));
  writeFileSync(path.join(folder, 'mlld-config.json'), text);
  readConfig(folder);
}

/** Each line is a command that is executed, a remark, or has a reason in `OTHER_LINES`. */
function commandLines(text: string): void {
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const isExecuted = commandsIn(`\`\`\`sh\n${line}\n\`\`\``).length > 0;
    if (!isExecuted && !Object.keys(OTHER_LINES).some((start) => line.startsWith(start))) throw new Error(`nothing executes: ${line}`);
  }
}
