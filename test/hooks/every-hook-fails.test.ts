/**
 * Every hook of every conformance case is made to throw, to write to a full disk, to hang, and to be busy for ever. The run must come out
 * as if the hook were not there (it fails before it has done anything) or as if nothing had happened (at its end). instrumentation.md 5.11.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hook, Script } from '../../grammar/ast.js';
import { parseScript } from '../../grammar/parse.js';
import { findProject } from '../../src/session/project.js';
import type { CacheRequest } from '../../src/session/script/run-options.js';
import { runScript } from '../../src/session/script/run-script.js';
import { PROJECT } from '../support/source-files.js';

const CASES = path.join(PROJECT, 'test/conformance');
/** Also parts of one that a case puts in the place of another. */
const SOURCE = /\.mld(\.\w+)?$/;
const HOOK = /^[ \t]*\/?hook\b/m;

/** Cases with hooks of which there is nothing to compare. */
const NOT_PLAYED: { readonly [name: string]: string } = {
  'checkpoint/named-bad-positions-run': 'refused before anything runs',
  'checkpoint/named-bad-positions-validate': 'refused before anything runs',
  'instrumentation/hook-only-at-top-level': 'refused before anything runs',
  'instrumentation/hook-syntax-errors': 'refused before anything runs',
  'instrumentation/hook-duplicate-name': 'its second hook fails by being there',
  'instrumentation/hook-module-duplicate-name': 'its second hook fails by being there',
};

/** A script may look at the failures of hooks, and then it shows what is different: here it sees a list that is always empty. */
const masked = (source: string): string => source.replaceAll('@mx.hooks.errors', '@mx.tries');

interface Failure {
  readonly statement: string;
  /** The text of the warning, which appears once for each firing. */
  readonly warned: RegExp;
}

const THROWS: Failure = { statement: 'bail "injected"', warned: /: injected$/gm };
const FULL_DISK: Failure = { statement: 'append "x" to "/dev/full"', warned: /: Cannot write \/dev\/full: no space left on the disk$/gm };
const HANGS: Failure = {
  statement: 'run sh { echo $$ >> "$PROCESSES"; exec sleep 600 }',
  warned: /it did not end within 0\.04 seconds$/gm,
};

/** It keeps a processor for all the time that it is given, so it is given little. */
const BUSY: Failure = { statement: 'run js { for (;;) {} }', warned: /it did not end within 0\.01 seconds$/gm };

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

function rewritten(source: string, mode: Mode, rewrite: Rewrite): string {
  const { statements } = parseScript(source, { mode });
  let text = source;
  for (const [i, statement] of [...statements.entries()].reverse()) {
    if (statement.kind !== 'hook') continue;
    const end = endOfStatement(source, statements, i);
    const instead = rewrite(source, statement, end);
    text = text.slice(0, instead === '' ? beginOf(source, statement.at) : statement.at) + instead + text.slice(end);
  }
  return text;
}

/** Up to the next statement, without the comments in between. */
function endOfStatement(source: string, statements: Script['statements'], i: number): number {
  const next = beginOf(source, statements[i + 1]?.at ?? source.length);
  const comment = source.slice(statements[i]?.at ?? 0, next).search(/(?<=\])[ \t]*(>>|#)/);
  return comment < 0 ? next : (statements[i]?.at ?? 0) + comment;
}

type Mode = 'strict' | 'markdown';
const modeOf = (file: string): Mode => (file.endsWith('.md') ? 'markdown' : 'strict');

/** With the slash that it has in Markdown. */
function beginOf(source: string, at: number): number {
  return source[at - 1] === '/' ? at - 1 : at;
}

interface Outcome {
  readonly stdout: readonly string[];
  /** With the codes of errors. */
  readonly statuses: readonly string[];
  readonly files: { readonly [name: string]: string };
}

interface Case {
  readonly folder: string;
  readonly steps: readonly { readonly script: string; readonly cache: CacheRequest }[];
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
  for (const [file, text] of theCase.sources) {
    const source = masked(text);
    await fs.writeFile(path.join(folder, file), rewrite ? rewritten(source, modeOf(file), rewrite) : source);
  }
  const processes = path.join(scratch, `${name}-${variant}.pids`);
  const stdout: string[] = [];
  const statuses: string[] = [];
  let stderr = '';
  for (const { script, cache } of theCase.steps) {
    let shown = '';
    const { status, error } = await runScript({
      script: { kind: 'file', path: path.join(folder, script) },
      mode: modeOf(script),
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
      // Every failure has a line of its own, which is counted below.
      verbose: true,
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
    statuses.push([status, (error as { code?: string } | undefined)?.code].join(' '));
  }
  const files: Record<string, string> = {};
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && !theCase.sources.has(entry.name)) files[entry.name] = await fs.readFile(path.join(folder, entry.name), 'utf8');
  }
  const started = await fs.readFile(processes, 'utf8').catch(() => '');
  return { outcome: { stdout, statuses, files }, stderr, processes: started.split('\n').filter(Boolean).map(Number) };
}

/** All with a hook in a source, by area and name; those that are not played only by name. */
async function casesWithHooks(): Promise<{ readonly cases: ReadonlyMap<string, Case>; readonly left: readonly string[] }> {
  const cases = new Map<string, Case>();
  const left: string[] = [];
  for (const file of (await fs.readdir(CASES, { recursive: true })).filter((entry) => path.basename(entry) === 'case.json').sort()) {
    const name = path.dirname(file);
    const folder = path.join(CASES, name);
    const sources = new Map<string, string>();
    for (const entry of await fs.readdir(folder, { recursive: true })) {
      if (SOURCE.test(entry)) sources.set(entry, await fs.readFile(path.join(folder, entry), 'utf8'));
    }
    if (![...sources.values()].some((text) => HOOK.test(text))) continue;
    if (name in NOT_PLAYED) {
      left.push(name);
      continue;
    }
    const { steps } = JSON.parse(await fs.readFile(path.join(folder, 'case.json'), 'utf8')) as { steps: { argv: string[] }[] };
    const runs = steps.filter(({ argv: [first] }) => first !== 'journal'); // what looks into the journal is checked by the case itself
    cases.set(name, { folder, sources, steps: runs.map(({ argv: [script = '', ...flags] }) => ({ script, cache: cacheOf(flags) })) });
  }
  return { cases, left };
}

function cacheOf([flag, target = '', ...more]: readonly string[]): CacheRequest {
  const known = new Map<string | undefined, CacheRequest>([
    [undefined, {}],
    ['--checkpoint', { checkpoint: true }],
    ['--resume', { resume: target }],
    ['--fresh', { fresh: true }],
  ]).get(flag);
  if (known === undefined || more.length > 0) throw new Error(`flags that this test doesn't know: ${flag} ${target} ${more.join(' ')}`);
  return known;
}

function firings({ warned }: Failure, stderr: string): number {
  return stderr.match(warned)?.length ?? 0;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const { cases, left } = await casesWithHooks();
const fired = { throws: 0, full: 0, hangs: 0, busy: 0, throwsLate: 0, fullLate: 0 };

it('plays every case that has a hook, and says why not for the few others', () => {
  expect(cases.size).toBeGreaterThan(110);
  expect([...left].sort()).toEqual(Object.keys(NOT_PLAYED).sort());
});

describe.concurrent.each([...cases])('%s', (_name, theCase) => {
  let played: ReturnType<typeof play> | undefined;
  const playedWithout = (): ReturnType<typeof play> => (played ??= play(theCase, 'removed', removed));

  it('comes out as without its hooks when they fail at once', async () => {
    const without = await playedWithout();
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
    const without = await playedWithout();
    const hanging = await play(theCase, 'hanging', failingAtOnce(HANGS), '40ms');
    expect(hanging.outcome).toEqual(without.outcome);
    expect(hanging.processes.filter(isAlive)).toEqual([]);
    fired.hangs += firings(HANGS, hanging.stderr);
  });

  it('comes out as without its hooks when they are busy for ever', async () => {
    const without = await playedWithout();
    const busy = await play(theCase, 'busy', failingAtOnce(BUSY), '10ms');
    expect(busy.outcome).toEqual(without.outcome);
    fired.busy += firings(BUSY, busy.stderr);
  });
});

it('made hooks fail', () => {
  expect(fired.throws).toBeGreaterThan(200);
  expect([fired.full, fired.hangs, fired.busy]).toEqual([fired.throws, fired.throws, fired.throws]);
  expect(fired.throwsLate).toBeGreaterThan(100);
  expect(fired.fullLate).toBe(fired.throwsLate);
});
