/** Plays a page of the guide as a reader would: writes its files and runs its commands in a fresh folder. Stand-ins answer for agents. */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { TSC } from '../support/packed-package.js';
import { PROJECT } from '../support/source-files.js';
import type { CommandStep, Step } from './page.js';
import { serve, type PageServer, type Served } from './server.js';

/** The commands of a page, which work on nothing but the reader's folder. The package and `tsc` are as if they were installed. */
const PROGRAMS = ['mlld', 'cat', 'cp', 'echo', 'grep', 'head', 'ls', 'mkdir', 'mv', 'node', 'npx', 'rm', 'sed', 'tail', 'timeout', 'wc'];

/** A shell that runs a script says more of a killed command than one that a reader types into. */
const KILLED = /^bash: line \d+: +\d+ (Killed) .*$/gm;

export interface Played {
  readonly step: CommandStep;
  /** Standard output and errors in the order they came, by lines; the home folder is `~`. */
  readonly printed: readonly string[];
}

/** `from` is a folder that is copied; without it the reader's folder is empty at first. What a run left in `from` is not copied. */
export async function play(steps: readonly Step[], from?: string): Promise<Played[]> {
  const home = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'mlld-guide-')));
  const cwd = path.join(home, 'harbour');
  const programs = path.join(home, '.programs');
  if (from === undefined) mkdirSync(cwd);
  else cpSync(from, cwd, { recursive: true, filter: (file) => !/\/(\.mlld|out)$/.test(file) });
  mkdirSync(programs);
  program(programs, 'mlld', `exec '${process.execPath}' '${path.join(PROJECT, 'dist/mlld.cjs')}' "$@"\n`);
  program(programs, 'npx', `shift\nexec '${process.execPath}' '${TSC}' "$@"\n`); // tsc is all that a page asks it for
  mkdirSync(path.join(home, 'node_modules'));
  for (const name of ['mlld', '@types'])
    symlinkSync(name === 'mlld' ? PROJECT : path.join(PROJECT, 'node_modules', name), path.join(home, 'node_modules', name));
  let agents = { plan: '{}', line: 0 };
  const servers = new Map<string, PageServer>();
  const env = (): NodeJS.ProcessEnv => ({
    HOME: home,
    PATH: [programs, path.join(PROJECT, 'test/conformance/stubs'), path.dirname(process.execPath), '/usr/bin', '/bin'].join(path.delimiter),
    XDG_CACHE_HOME: path.join(process.env['MLLD_TEST_SCRATCH'] ?? os.tmpdir(), 'mlld-test-cache'),
    STUB_PLAN: agents.plan,
    STUB_LEDGER: path.join(home, `.ledger-${agents.line}`),
    ...Object.fromEntries([...servers].map(([variable, { url }]) => [variable, url])),
  });
  const played: Played[] = [];
  let status = 0;
  try {
    for (const step of steps) {
      if (step.kind === 'file') write(cwd, step.name, step.text);
      if (step.kind === 'agents') agents = step;
      if (step.kind === 'server') {
        servers.get(step.variable)?.close();
        // The plan is a page's own, and a wrong member shows in what the page prints.
        servers.set(step.variable, await serve(JSON.parse(step.plan) as Served, cwd));
      }
      if (step.kind === 'meanwhile') {
        const { status: failed, printed } = await inShell(step.command, cwd, env());
        if (failed !== 0) throw new Error(`line ${step.line + 1}: ${step.command} ended with ${failed}: ${printed}`);
      }
      if (step.kind !== 'command') continue;
      refuseStrangePrograms(step);
      const ended = await inShell(`(exit ${status})\n${step.command}\nexit $?`, cwd, env());
      status = ended.status;
      const lines = ended.printed.replaceAll(home, '~').replace(KILLED, '$1').replace(/\n$/, '').split('\n');
      played.push({ step, printed: ended.printed === '' ? [] : lines });
    }
  } finally {
    for (const server of servers.values()) server.close();
  }
  return played;
}

function refuseStrangePrograms({ command, line }: CommandStep): void {
  const [word = ''] = command.trim().split(/\s+/);
  if (!PROGRAMS.includes(word)) throw new Error(`line ${line + 1}: a page runs none but ${PROGRAMS.join(', ')}, and this is ${word}`);
}

function write(cwd: string, name: string, text: string): void {
  const file = path.join(cwd, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  if (text.startsWith('#!')) chmodSync(file, 0o755);
}

function program(folder: string, name: string, body: string): void {
  writeFileSync(path.join(folder, name), `#!/bin/sh\n${body}`, { mode: 0o755 });
}

function inShell(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ printed: string; status: number }> {
  return new Promise((resolve, reject) => {
    const child = execFile('bash', ['-c', `exec 2>&1\n${script}`], { cwd, env, timeout: 30_000 }, (error, printed) => {
      if (error !== null && typeof error.code !== 'number') reject(new Error(`${script}: ${error.message}`, { cause: error }));
      else resolve({ printed, status: typeof error?.code === 'number' ? error.code : 0 });
    });
    child.stdin?.end();
  });
}
