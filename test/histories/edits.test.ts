/**
 * Edits one text of random programs. A wrong reuse prints something else than a run without a past does: its call key lacks something that
 * the result depends on, or a fingerprint does not cover the edit.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { JournalStore } from '../../journal/store.js';
import { findProject, type Project } from '../../src/session/project.js';
import { runScript } from '../../src/session/script/run-script.js';
import { examples } from '../support/examples.js';
import { anyProgram } from './any-program.js';

/** Some of the programs start shells. */
const TIMEOUT_MS = examples(60_000, 600_000);

let project: Project;
beforeAll(async () => {
  const folder = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-edits-')));
  await fs.writeFile(path.join(folder, 'mlld-config.json'), '{}');
  project = await findProject(folder);
});
afterAll(() => fs.rm(project.root, { recursive: true, force: true }));

interface Ran {
  readonly shown: string;
  readonly executed: number;
}

/** Runs the program; a `past` records, and its results are reused unless a definition was edited. */
async function run({ script, module }: { readonly script: string; readonly module: string }, past?: JournalStore): Promise<Ran> {
  const file = path.join(project.root, 'job.mld');
  await fs.writeFile(file, script);
  await fs.writeFile(path.join(project.root, 'module.mld'), module);
  let shown = '';
  const report = await runScript({
    script: { kind: 'file', path: file },
    name: 'job',
    project,
    workingDirectory: project.root,
    argv: [],
    payload: {},
    inject: [],
    state: [],
    cache: past ? { checkpoint: true, changed: 'ask' } : {},
    environment: {},
    errorBehavior: 'continue',
    streaming: true,
    structured: false,
    io: {
      stdin: async () => undefined,
      stdout: (text) => void (shown += text),
      stderr: () => {},
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now(),
    },
    signal: new AbortController().signal,
    openStore: async () => past ?? openMemoryStore(),
  });
  if (report.status !== 'completed') throw report.error ?? new Error(`the run ended ${report.status}`);
  return { shown, executed: report.calls?.executed ?? 0 };
}

it('prints after an edit what a run without a past prints, and executes nothing twice without one', { timeout: TIMEOUT_MS }, async () => {
  let reused = 0;
  const property = fc.asyncProperty(fc.gen(), fc.nat(), async (gen, edit) => {
    const program = anyProgram((max) => gen(fc.nat, { max }));
    const past = openMemoryStore();
    const first = await run(program.write(), past);
    expect(first.shown).toBe((await run(program.write())).shown);
    expect(await run(program.write(), past)).toEqual({ shown: first.shown, executed: 0 });
    const edited = program.write(edit % program.texts);
    const again = await run(edited, past);
    const fresh = await run(edited);
    expect({ ...edited, shown: again.shown }).toEqual({ ...edited, shown: fresh.shown });
    reused += fresh.executed - again.executed;
  });
  await fc.assert(property, { numRuns: examples(60, 400) });
  expect(reused).toBeGreaterThan(0);
});
