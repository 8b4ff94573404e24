/** A project folder in which scripts run in this process, against a store that can die at any event. */
import { writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Fact } from '../../journal/event.js';
import { openFileStore } from '../../journal/storage/file-store.js';
import { runIdAt, seqOf } from '../../journal/ids.js';
import { openMemoryStore } from '../../journal/storage/memory-store.js';
import type { Journal, JournalStore } from '../../journal/store.js';
import { findProject, workflowFor, type Project } from '../../src/session/project.js';
import { runScript } from '../../src/session/script/run-script.js';
import { isRelevant, seenEvents } from './events.js';
import type { Command, Name, Observed } from './model.js';
import { ANSWERING, renderLibrary, renderScript } from './render.js';
import type { Library, Script } from './script.js';
import { targetText } from './target.js';

export interface Runtime {
  write(name: Name, script: Script): Promise<void>;
  break(questions: readonly string[]): Promise<void>;
  clean(name: Name): Promise<void>;
  run(command: Command, killAt: number | undefined): Promise<Observed>;
  close(): Promise<void>;
}

export async function openProject(library: Library): Promise<string> {
  const folder = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'mlld-histories-')));
  const files = {
    'mlld-config.json': '{}',
    'answering.cjs': ANSWERING,
    'lib.mld': renderLibrary(library),
    'broken.json': '[]',
    'calls.log': '',
  };
  await Promise.all(Object.entries(files).map(([name, text]) => fs.writeFile(path.join(folder, name), text)));
  return folder;
}

export async function openRuntime(library: Library, kind: 'memory' | 'file'): Promise<Runtime> {
  const folder = await openProject(library);
  const project = await findProject(folder);
  const store = kind === 'memory' ? openMemoryStore() : openFileStore(folder);
  const asked = new Map<string, string>();
  let nowMs = Date.UTC(2026, 0, 1);
  return {
    write: (name, script) => fs.writeFile(path.join(folder, `${name}.mld`), renderScript(script)),
    break: (questions) => fs.writeFile(path.join(folder, 'broken.json'), JSON.stringify(questions)),
    async clean(name) {
      const workflow = workflowFor(project, `${name}.mld`);
      if ((await store.runs(workflow)).length === 0) return;
      const journal = await store.create({ workflow, run: runIdAt((nowMs += 1000), '0000') });
      await journal.append({ type: 'memo.reset', reason: 'clean' });
      await journal.close();
    },
    async run(command, killAt) {
      const dead = path.join(folder, 'dead.txt');
      await fs.rm(dead, { force: true });
      const mortal = mortalStore(store, { killAt, dead });
      const before = await questionsIn(folder);
      const workflow = workflowFor(project, `${command.script}.mld`);
      const runsBefore = (await store.runs(workflow)).length;
      const output: string[] = [];
      const options = {
        command,
        folder,
        project,
        nowMs: (nowMs += 1000),
        store: mortal.store,
        show: (text: string) => void output.push(text),
      };
      const report = await Promise.race([runOnce(options), mortal.died.then(() => 'killed' as const)]);
      const runs = await store.runs(workflow);
      const latest = runs.length > runsBefore ? runs.at(-1) : undefined;
      return {
        outcome: report === 'killed' ? 'killed' : report.status === 'completed' ? 'completed' : 'failed',
        error: report === 'killed' ? undefined : (report.error as { readonly code?: string } | undefined)?.code,
        output: output.join('').split('\n').slice(0, -1),
        executed: (await questionsIn(folder)).slice(before.length),
        events: latest && (await seenEvents(store, latest.ref, asked)),
      };
    },
    close: () => fs.rm(folder, { recursive: true, force: true }),
  };
}

interface Start {
  readonly command: Command;
  readonly folder: string;
  readonly project: Project;
  readonly nowMs: number;
  readonly store: JournalStore;
  readonly show: (text: string) => void;
}

function runOnce({ command, folder, project, nowMs, store, show }: Start): ReturnType<typeof runScript> {
  const { script, checkpoint, fresh, resume } = command;
  const fork = forkOf(command);
  return runScript({
    script: { kind: 'file', path: path.join(folder, `${script}.mld`) },
    name: script,
    project,
    workingDirectory: folder,
    argv: [],
    payload: {},
    inject: [],
    state: [],
    cache: {
      ...(checkpoint && { checkpoint }),
      ...(fresh && { fresh }),
      ...(resume && { resume: targetText(resume) }),
      ...(fork !== undefined && { forks: [fork] }),
    },
    environment: {},
    errorBehavior: 'continue',
    streaming: true,
    structured: false,
    io: { stdin: async () => undefined, stdout: show, stderr: () => {}, nowMs: () => nowMs, monotonicMs: () => performance.now() },
    signal: new AbortController().signal,
    openStore: async () => store,
  });
}

export function forkOf({ script, fork }: Command): string | undefined {
  if (fork === undefined || fork === 'nobody') return fork;
  return (fork === 'itself') === (script === 'job') ? 'job' : 'collect';
}

export async function questionsIn(folder: string): Promise<string[]> {
  return (await fs.readFile(path.join(folder, 'calls.log'), 'utf8')).split('\n').slice(0, -1);
}

/**
 * Dies before it records the n-th event, or the next one that the run waits for: nothing is recorded any more, and the run waits for good.
 * It can't die at an event that is only posted, because the run would continue. The file `dead` keeps other calls in flight from executing.
 */
function mortalStore(
  store: JournalStore,
  { killAt, dead }: { readonly killAt: number | undefined; readonly dead: string },
): { readonly store: JournalStore; readonly died: Promise<void> } {
  let die = (): void => {};
  const died = new Promise<void>((resolve) => (die = resolve));
  if (killAt === undefined) return { store, died };
  let seen = 0;
  let isDead = false;
  const count = (fact: Fact): boolean => isRelevant(fact) && ++seen >= killAt;
  const mortal = (journal: Journal): Journal => ({
    ref: journal.ref,
    post(fact) {
      if (isDead) return { seq: seqOf(0), ts: '', hash: '', position: { offset: 0, bytes: 0 } };
      count(fact);
      return journal.post(fact);
    },
    async append(fact, placed) {
      if (!isDead && !count(fact)) return journal.append(fact, placed);
      if (!isDead) {
        isDead = true;
        writeFileSync(dead, '');
        void journal.close().then(die);
      }
      return new Promise(() => {});
    },
    appendOwn: (...args) => journal.appendOwn(...args),
    flush: () => (isDead ? new Promise(() => {}) : journal.flush()),
    close: () => (isDead ? new Promise(() => {}) : journal.close()),
  });
  const dying = Object.create(store, { create: { value: async (ref: Journal['ref']) => mortal(await store.create(ref)) } }) as JournalStore;
  return { store: dying, died };
}
