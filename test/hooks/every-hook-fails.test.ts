/**
 * Every hook of every conformance case is made to throw, to write to a full disk, and to hang. The run must come out as if the hook
 * were not there (it fails before it has done anything) or as if nothing had happened (at its end). Instrumentation 5.11.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hook, Script } from '../../grammar/ast.js';
import { parseScript } from '../../grammar/parse.js';
import { findProject } from '../../src/project.js';
import type { CacheRequest } from '../../src/run-options.js';
import { run } from '../../src/run.js';
import { PROJECT } from '../support/source-files.js';

const CASES = path.join(PROJECT, 'test/conformance');
/** The other areas have no hooks. */
const AREAS = ['instrumentation', 'checkpoint'];

/** What is shown of failures is what differs; a duplicate name fails with and without the bodies. */
const TELLS_OF_ERRORS = /@mx\.hooks/;

interface Failure {
  readonly statement: string;
  /** What the warning says, once for each firing. */
  readonly told: RegExp;
}

const THROWS: Failure = { statement: 'bail "injected"', told: /: injected$/gm };
const FULL_DISK: Failure = { statement: 'append "x" to "/dev/full"', told: /: Cannot write \/dev\/full: no space left on the disk$/gm };
const HANGS: Failure = {
  statement: 'run sh { echo $$ >> "$PROCESSES"; exec sleep 600 }',
  told: /it did not end within 0\.04 seconds$/gm,
};

type Rewrite = (source: string, hook: Hook, end: number) => string;

/** The whole statement goes. */
const removed: Rewrite = () => '';

const failingAtOnce =
  ({ statement }: Failure): Rewrite =>
  (source, hook) =>
    `${source.slice(hook.at, hook.body.at)}[ ${statement} ]\n`;

/** It has done all its work before; one that ends by returning is as it was. */
const failingAtItsEnd =
  ({ statement }: Failure): Rewrite =>
  (source, hook, end) => {
    if (hook.body.kind !== 'block' || hook.body.statements.at(-1)?.kind === 'return') return source.slice(hook.at, end);
    const close = source.lastIndexOf(']', end);
    return `${source.slice(hook.at, close).trimEnd()}\n  ${statement}\n]\n`;
  };

function rewritten(source: string, rewrite: Rewrite): string {
  const { statements } = parseScript(source, { mode: 'strict' });
  let text = source;
  for (const [i, statement] of [...statements.entries()].reverse()) {
    if (statement.kind !== 'hook') continue;
    const end = endOfStatement(source, statements, i);
    text = text.slice(0, statement.at) + rewrite(source, statement, end) + text.slice(end);
  }
  return text;
}

/** Up to the next statement, without the comments in between. */
function endOfStatement(source: string, statements: Script['statements'], i: number): number {
  const next = statements[i + 1]?.at ?? source.length;
  const comment = source.slice(statements[i]?.at ?? 0, next).search(/(?<=\])[ \t]*(>>|#)/);
  return comment < 0 ? next : (statements[i]?.at ?? 0) + comment;
}

interface Outcome {
  readonly stdout: readonly string[];
  readonly statuses: readonly string[];
  readonly files: { readonly [name: string]: string };
}

interface Case {
  readonly folder: string;
  readonly script: string;
  /** One for each step, in its order. */
  readonly cache: readonly CacheRequest[];
  readonly sources: ReadonlyMap<string, string>;
}

let scratch = '';
beforeAll(async () => {
  scratch = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-hooks-')));
});
afterAll(() => fs.rm(scratch, { recursive: true, force: true }));

/** Plays the steps of a case in a copy of its folder. */
async function play(
  theCase: Case,
  variant: string,
  rewrite?: Rewrite,
  hookLimit = '10m',
): Promise<{ outcome: Outcome; stderr: string; processes: number[] }> {
  const name = path.basename(theCase.folder);
  const folder = path.join(scratch, `${name}-${variant}`);
  await fs.cp(theCase.folder, folder, { recursive: true });
  await fs.rm(path.join(folder, 'case.json'));
  if (rewrite) for (const [file, text] of theCase.sources) await fs.writeFile(path.join(folder, file), rewritten(text, rewrite));
  const processes = path.join(scratch, `${name}-${variant}.pids`);
  const stdout: string[] = [];
  const statuses: string[] = [];
  let stderr = '';
  for (const cache of theCase.cache) {
    let shown = '';
    const { status } = await run({
      script: { kind: 'file', path: path.join(folder, theCase.script) },
      name: 'main',
      project: await findProject(folder),
      workingDirectory: folder,
      argv: [],
      payload: {},
      inject: [],
      state: [],
      cache,
      environment: { PATH: process.env['PATH'], HOME: folder, PROCESSES: processes, MLLD_HOOK_TIMEOUT: hookLimit },
      errorBehavior: 'continue',
      streaming: true,
      structured: false,
      io: {
        stdin: async () => undefined,
        stdout: (text) => void (shown += text),
        stderr: (text) => void (stderr += text),
        nowMs: () => Date.now(),
        monotonicMs: () => performance.now(),
      },
      signal: new AbortController().signal,
    });
    stdout.push(shown);
    statuses.push(status);
  }
  const files: Record<string, string> = {};
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && !theCase.sources.has(entry.name)) files[entry.name] = await fs.readFile(path.join(folder, entry.name), 'utf8');
  }
  const started = await fs.readFile(processes, 'utf8').catch(() => '');
  return { outcome: { stdout, statuses, files }, stderr, processes: started.split('\n').filter(Boolean).map(Number) };
}

/** Those with hooks whose steps run the same script and end well. */
async function casesWithHooks(): Promise<Map<string, Case>> {
  const cases = new Map<string, Case>();
  for (const area of AREAS) {
    for (const name of await fs.readdir(path.join(CASES, area))) {
      const folder = path.join(CASES, area, name);
      const { steps } = JSON.parse(await fs.readFile(path.join(folder, 'case.json'), 'utf8')) as {
        steps: { argv: string[]; exit?: number }[];
      };
      const [script = ''] = steps[0]?.argv ?? [];
      if (!steps.every(({ argv, exit }) => (exit ?? 0) === 0 && argv[0] === script && argv.length <= 2)) continue;
      const sources = new Map<string, string>();
      for (const file of await fs.readdir(folder)) {
        if (file.endsWith('.mld')) sources.set(file, await fs.readFile(path.join(folder, file), 'utf8'));
      }
      const all = [...sources.values()].join('\n');
      const cache = steps.map(({ argv: [, flag] }) => (flag === undefined ? {} : (FLAGS[flag] as CacheRequest)));
      if (/^hook\b/m.test(all) && !TELLS_OF_ERRORS.test(all)) cases.set(`${area}/${name}`, { folder, script, cache, sources });
    }
  }
  return cases;
}

const FLAGS: { readonly [flag: string]: CacheRequest } = {
  '--checkpoint': { checkpoint: true },
  '--resume': { resume: '' },
  '--fresh': { fresh: true },
};

function firings({ told }: Failure, stderr: string): number {
  return stderr.match(told)?.length ?? 0;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const cases = await casesWithHooks();
const fired = { throws: 0, full: 0, hangs: 0, throwsLate: 0, fullLate: 0 };

it('finds the cases', () => {
  expect(cases.size).toBeGreaterThan(90);
});

describe.concurrent.each([...cases])('%s', (_name, theCase) => {
  it('comes out as without its hooks when they fail at once', async () => {
    const without = await play(theCase, 'removed', removed);
    const throwing = await play(theCase, 'throwing', failingAtOnce(THROWS));
    const full = await play(theCase, 'full-disk', failingAtOnce(FULL_DISK));
    expect(throwing.outcome).toEqual(without.outcome);
    expect(full.outcome).toEqual(without.outcome);
    fired.throws += firings(THROWS, throwing.stderr);
    fired.full += firings(FULL_DISK, full.stderr);
  });

  it('comes out as ever when they fail at their end', async () => {
    const untouched = await play(theCase, 'untouched');
    const throwing = await play(theCase, 'throwing-late', failingAtItsEnd(THROWS));
    const full = await play(theCase, 'full-disk-late', failingAtItsEnd(FULL_DISK));
    expect(throwing.outcome).toEqual(untouched.outcome);
    expect(full.outcome).toEqual(untouched.outcome);
    fired.throwsLate += firings(THROWS, throwing.stderr);
    fired.fullLate += firings(FULL_DISK, full.stderr);
  });

  it('comes out as without its hooks when they hang, and leaves no process behind', async () => {
    const without = await play(theCase, 'removed-again', removed);
    const hanging = await play(theCase, 'hanging', failingAtOnce(HANGS), '40ms');
    expect(hanging.outcome).toEqual(without.outcome);
    expect(hanging.processes.filter(isAlive)).toEqual([]);
    fired.hangs += firings(HANGS, hanging.stderr);
  });
});

it('made hooks fail', () => {
  expect(fired.throws).toBeGreaterThan(170);
  expect([fired.full, fired.hangs]).toEqual([fired.throws, fired.throws]);
  expect(fired.throwsLate).toBeGreaterThan(100);
  expect(fired.fullLate).toBe(fired.throwsLate);
});
