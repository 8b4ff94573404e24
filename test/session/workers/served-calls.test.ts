/** The run of a worker that serves another run. team-store.md 7.1. */
import { describe, expect, it } from 'vitest';
import { runIdAt } from '../../../journal/ids.js';
import { openMemoryStore } from '../../../journal/storage/memory-store.js';
import type { TeamWorkers } from '../../../journal/storage/workers.js';
import type { Journal } from '../../../journal/store.js';
import { ServedCalls } from '../../../src/session/workers/served-calls.js';
import { JOB } from '../../support/written-runs.js';

describe('a worker that begins to serve a run', () => {
  it('takes calls before the beginning of its own run is committed, which their starts wait for', async () => {
    const store = openMemoryStore();
    const journal = await store.create({ workflow: JOB, run: runIdAt(0, '0001') });
    const appended: string[] = [];
    const uncommitted: Journal = {
      ref: journal.ref,
      post: (fact) => journal.post(fact),
      append: (fact) => {
        appended.push(fact.type);
        return new Promise(() => undefined);
      },
      appendOwn: (fact, durability) => journal.appendOwn(fact, durability),
      flush: () => journal.flush(),
      close: () => journal.close(),
    };
    const io = { stdin: async () => undefined, stdout: () => undefined, stderr: () => undefined, nowMs: () => 0, monotonicMs: () => 0 };
    const calls = await ServedCalls.open(
      {
        store,
        workers: {} as TeamWorkers, // it is asked for nothing here
        worker: { name: 'hut', version: '1.0.0', lanes: { '': 1 } },
        options: {
          script: { kind: 'text', text: '', directory: '/hut', label: JOB },
          name: 'job',
          project: { root: '/hut', config: { scriptDir: 'llm/run', prefixes: [], suppressWarnings: [] } },
          workingDirectory: '/hut',
          argv: [],
          payload: {},
          inject: [],
          state: [],
          cache: { checkpoint: true },
          environment: {},
          errorBehavior: 'continue',
          streaming: false,
          structured: false,
          io,
          signal: new AbortController().signal,
        },
        hasOwnFolders: true,
        onLost: (error) => expect.unreachable(error.message),
        onOutage: () => undefined,
      },
      {
        of: { id: '1', ref: { workflow: JOB, run: runIdAt(0, '0000') } },
        journal: uncommitted,
        hold: () => undefined,
        ended: () => undefined,
        giveBack: () => undefined,
        hurry: () => undefined,
      },
      [],
    );
    expect(appended).toEqual(['run.started']);
    expect(calls.inFlight).toBe(0);
  });
});
