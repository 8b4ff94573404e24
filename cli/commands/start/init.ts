/** `mlld init [DIR]`: a project with a workflow that runs at once. world.md 17.6. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedProgram, wordsToRun, writeStarter, type Starter, type StarterReport } from './write-starter.js';
import { shellWords } from '../../../journal/shell-words.js';
import { reportStyle, type Style } from '../../render/style.js';
import type { Io } from '../../terminal/io.js';

interface InitOptions {
  readonly template: Starter;
  readonly json?: true;
  readonly from?: string;
}

export async function init(io: Io, target: string | undefined, { template, json, from }: InitOptions): Promise<void> {
  if (from !== undefined) return (await import('./init-from.js')).initFrom(io, from, json === true);
  const folder = path.resolve(io.workingDirectory, target ?? '.');
  const report = writeStarter({ folder, starter: template, starters: fileURLToPath(new URL('../examples/starters', import.meta.url)) });
  const next = nextCommands(io, folder, template);
  if (json) io.stdout(`${JSON.stringify({ folder, ...report, next }, undefined, 2)}\n`);
  else io.stdout(rendered(report, next, reportStyle(io)));
}

function nextCommands({ workingDirectory, environment }: Io, folder: string, template: Starter): readonly string[] {
  const program = installedProgram(environment);
  const from = path.relative(workingDirectory, folder);
  return [
    ...(from === '' ? [] : [shellWords(['cd', from])]),
    shellWords(['mlld', ...wordsToRun(template)]),
    ...(program === undefined ? [] : [shellWords(['mlld', ...wordsToRun(template, program)])]),
    'mlld journal list',
    'mlld docs',
  ];
}

function rendered({ written, left, leftOut }: StarterReport, next: readonly string[], { bold, dim }: Style): string {
  const files = [
    ...written.map((file) => `  ${file}`),
    ...left.map((file) => `  ${file}  ${dim('was there; left as it is')}`),
    ...leftOut.map((file) => `  ${file}  ${dim('not written; its folder has files of yours, which the workflow reads')}`),
  ];
  return `${[...files, '', 'Next:', ...next.map((command) => `  ${bold(command)}`)].join('\n')}\n`;
}
