/**
 * Every hook of every conformance case is made to fail, and the run must come out as if the hook were not there (failed at once)
 * or as if nothing had happened (failed at its end). Instrumentation 5.11.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hook, Script } from '../../grammar/ast.js';
import { parseScript } from '../../grammar/parse.js';
import { findProject } from '../../src/project.js';
import { run } from '../../src/run.js';
import { PROJECT } from '../support/source-files.js';

const CASES = path.join(PROJECT, 'test/conformance/instrumentation');

/** What is shown of failures is what differs; a duplicate name fails with and without the bodies. */
const TELLS_OF_ERRORS = /@mx\.hooks/;

type Rewrite = (source: string, hook: Hook, end: number) => string;

/** The whole statement goes. */
const removed: Rewrite = () => '';

/** It ends itself before it has done anything. */
const failingAtOnce: Rewrite = (source, hook) => `${source.slice(hook.at, hook.body.at)}[ bail "injected" ]\n`;

/** It has done all its work, and then ends itself; one that ends by returning is as it was. */
const failingAtItsEnd: Rewrite = (source, hook, end) => {
  if (hook.body.kind !== 'block' || hook.body.statements.at(-1)?.kind === 'return') return source.slice(hook.at, end);
  const close = source.lastIndexOf(']', end);
  return `${source.slice(hook.at, close).trimEnd()}\n  bail "injected"\n]\n`;
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
  readonly stdout: string;
  readonly status: string;
  readonly files: { readonly [name: string]: string };
  readonly warnings: number;
}

let scratch = '';
beforeAll(async () => {
  scratch = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-hooks-')));
});
afterAll(() => fs.rm(scratch, { recursive: true, force: true }));

async function outcomeOf(name: string, variant: string, sources: ReadonlyMap<string, string>): Promise<Outcome> {
  const folder = path.join(scratch, `${name}-${variant}`);
  await fs.cp(path.join(CASES, name), folder, { recursive: true });
  await fs.rm(path.join(folder, 'case.json'));
  for (const [file, text] of sources) await fs.writeFile(path.join(folder, file), text);
  const out = { stdout: '', stderr: '' };
  const report = await run({
    script: { kind: 'file', path: path.join(folder, 'main.mld') },
    name: 'main',
    project: await findProject(folder),
    workingDirectory: folder,
    argv: [],
    payload: {},
    inject: [],
    state: [],
    cache: {},
    environment: { PATH: process.env['PATH'], HOME: folder },
    errorBehavior: 'continue',
    streaming: true,
    structured: false,
    io: {
      stdin: async () => undefined,
      stdout: (text) => void (out.stdout += text),
      stderr: (text) => void (out.stderr += text),
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now(),
    },
    signal: new AbortController().signal,
  });
  const files: Record<string, string> = {};
  for (const entry of await fs.readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && !sources.has(entry.name)) files[entry.name] = await fs.readFile(path.join(folder, entry.name), 'utf8');
  }
  return { stdout: out.stdout, status: report.status, files, warnings: out.stderr.split('injected').length - 1 };
}

async function casesWithHooks(): Promise<Map<string, ReadonlyMap<string, string>>> {
  const cases = new Map<string, ReadonlyMap<string, string>>();
  for (const name of await fs.readdir(CASES)) {
    const { steps } = JSON.parse(await fs.readFile(path.join(CASES, name, 'case.json'), 'utf8')) as {
      steps: { argv: string[]; exit?: number }[];
    };
    if (steps.length > 1 || (steps[0]?.exit ?? 0) !== 0) continue;
    const sources = new Map<string, string>();
    for (const file of await fs.readdir(path.join(CASES, name))) {
      if (file.endsWith('.mld')) sources.set(file, await fs.readFile(path.join(CASES, name, file), 'utf8'));
    }
    const all = [...sources.values()].join('\n');
    if (/^hook\b/m.test(all) && !TELLS_OF_ERRORS.test(all)) cases.set(name, sources);
  }
  return cases;
}

function variantOf(sources: ReadonlyMap<string, string>, rewrite: Rewrite): ReadonlyMap<string, string> {
  return new Map([...sources].map(([file, text]) => [file, rewritten(text, rewrite)]));
}

const cases = await casesWithHooks();

it('finds the cases', () => {
  expect(cases.size).toBeGreaterThan(60);
});

describe.each([...cases])('%s', (name, sources) => {
  it('comes out as without its hooks when they fail at once', async () => {
    const without = await outcomeOf(name, 'removed', variantOf(sources, removed));
    const { warnings, ...failing } = await outcomeOf(name, 'at-once', variantOf(sources, failingAtOnce));
    expect(failing).toEqual({ stdout: without.stdout, status: without.status, files: without.files });
    firedAtOnce += warnings;
  });

  it('comes out as ever when they fail at their end', async () => {
    const { warnings: _none, ...untouched } = await outcomeOf(name, 'untouched', sources);
    const { warnings, ...failing } = await outcomeOf(name, 'at-end', variantOf(sources, failingAtItsEnd));
    expect(failing).toEqual(untouched);
    firedAtEnd += warnings;
  });
});

let firedAtOnce = 0;
let firedAtEnd = 0;
it('made hooks fail', () => {
  expect(firedAtOnce).toBeGreaterThan(150);
  expect(firedAtEnd).toBeGreaterThan(100);
});
