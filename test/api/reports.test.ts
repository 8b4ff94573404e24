/** The reports of the library are those that the commands print, from the same store. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  auditRun,
  CALL_COLUMNS,
  callKey,
  describeEvent,
  diffRuns,
  digestOf,
  explainRun,
  exportCalls,
  exportChromeTrace,
  exportOtlp,
  foldRun,
  foldWorkflow,
  followRun,
  isRunId,
  latestFailure,
  memoOf,
  newRunId,
  openFileStore,
  openMemoryStore,
  originOfFile,
  postMortemOf,
  readCall,
  readEvents,
  resolveRun,
  run,
  runIdOf,
  startOfRun,
  statsOf,
  streamAudit,
  summariseRun,
  timelineOf,
  verifyRun,
  workflowOf,
  type JournalEvent,
  type JournalStore,
  type Projection,
  type RunFile,
} from '../../src/api/index.js';
import { callCli } from '../support/in-process/call-cli.js';

const SCRIPT = `exe llm @weigh(boat) = sh { [ "$boat" = wreck ] && exit 3; echo "$boat weighs 7" }
var @first = @weigh("sloop")
output @first to "out.txt"
checkpoint "first"
var @second = @weigh("NAME")
show @second
`;

let folder: string;
let store: JournalStore;
let before: RunFile;
let after: RunFile;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'mlld-api-'));
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  for (const name of ['ketch', 'wreck']) {
    writeFileSync(path.join(folder, 'harbour.mld'), SCRIPT.replace('NAME', name));
    await callCli(['harbour.mld', '--checkpoint'], { cwd: folder });
  }
  store = openFileStore(folder);
  const project = { root: folder, config: { scriptDir: '' } as never, workingDirectory: folder };
  [before, after] = [await resolveRun(store, project, 'harbour@2'), await resolveRun(store, project, 'latest')];
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function printed(...argv: string[]): Promise<unknown> {
  return JSON.parse((await callCli(argv, { cwd: folder })).stdout);
}

/** Returns the value as JSON has it: without members that are undefined. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe('a report of the library', () => {
  it.each<[string, () => Promise<unknown>, (left: string, right: string) => string[]]>([
    ['auditRun', () => auditRun(store, after), (_, id) => ['audit', id]],
    ['explainRun', () => explainRun(store, after.ref), (_, id) => ['explain', id]],
    ['readCall', () => readCall(store, after, 'main/weigh#0'), (_, id) => ['cat', id, 'main/weigh#0']],
    ['verifyRun', () => verifyRun(store, after), (_, id) => ['verify', id]],
    ['diffRuns', () => diffRuns(store, before.ref, after), (left, right) => ['diff', left, right]],
    ['statsOf', () => statsOf(store, { last: 2 }), () => ['stats', '--last', '2']],
    ['timelineOf', () => timelineOf(store, after.ref), (_, id) => ['report', id]],
  ])('is what its command prints: %s', async (_name, report, argv) => {
    expect(asJson(await report())).toEqual(await printed('journal', ...argv(before.ref.run, after.ref.run), '--json'));
  });

  it('is what `postmortem` prints, of the latest failure', async () => {
    const failed = (await latestFailure(store)) as RunFile;
    expect(failed.ref).toEqual(after.ref);
    expect(asJson(await postMortemOf(store, failed))).toEqual(await printed('journal', 'postmortem', '--json'));
  });

  it('is what `export` prints', async () => {
    const exported = (format: string) => printed('journal', 'export', after.ref.run, '--format', format);
    // A source tree has no version.
    const built = JSON.stringify(await exported('otlp-json')).replace(/("name":"mlld","version":)"[^"]*"/, '$1"0.0.0-source"');
    expect(JSON.stringify(await exportOtlp(store, after))).toBe(built);
    expect(asJson(await exportChromeTrace(store, after))).toEqual(await exported('chrome-trace'));
    const { stdout } = await callCli(['journal', 'export', after.ref.run, '--format', 'csv'], { cwd: folder });
    const rows = [...(await exportCalls(store, after))];
    expect(stdout.trim().split('\n')).toHaveLength(rows.length + 1);
    expect(stdout.split(/\r?\n/)[0]).toBe(CALL_COLUMNS.join(','));
    expect(rows.map(({ outcome }) => outcome)).toEqual(['reused', 'failed']);
  });

  it('summarises a run', async () => {
    expect(await summariseRun(store, before)).toMatchObject({ status: 'completed', executed: 2, checkpoints: ['first'] });
    expect(await summariseRun(store, after.ref)).toMatchObject({ reused: 1, failed: 1 });
  });

  it('names the run that is not there', async () => {
    await expect(summariseRun(store, { ...after.ref, run: runIdOf('20200101-000000-000-aaaa') })).rejects.toMatchObject({
      code: 'RUN_UNKNOWN',
      message: expect.stringContaining('20200101-000000-000-aaaa') as string,
    });
  });

  it('streams the entries of an audit', async () => {
    const entries: unknown[] = [];
    const { totals } = await streamAudit(store, after, { label: 'llm' }, (entry) => entries.push(entry));
    expect(entries).toEqual((await auditRun(store, after, { label: 'llm' })).entries);
    expect(totals).toMatchObject({ reused: 1, failed: 1 });
  });

  it('finds who wrote a file', async () => {
    const file = path.join(folder, 'out.txt');
    const isFile = (name: string): boolean => path.resolve(folder, name) === file;
    const found = await originOfFile(store, before, { isFile, content: readFileSync(file, 'utf8') });
    expect(found.touched.map(({ did }) => did)).toEqual(['write']);
    expect({ file, ...(asJson(found) as object) }).toEqual(
      await printed('journal', 'audit', before.ref.run, '--file', 'out.txt', '--json'),
    );
  });
});

describe('the results that a next run reuses', () => {
  it('are listed with their values', async () => {
    const results = await memoOf(store, after.ref.workflow);
    const values = [];
    for (const { fn, preview, value } of results) values.push([fn, preview, await value()]);
    expect(values).toEqual([
      ['weigh', 'sloop', 'sloop weighs 7'],
      ['weigh', 'ketch', 'ketch weighs 7'],
    ]);
    expect(results[0]?.key).toBe(callKey({ fn: 'weigh', args: ['sloop'] }));
  });

  it('are those of an earlier moment where one is named', async () => {
    expect(await memoOf(store, before.ref.workflow, { until: { run: before.ref.run } })).toHaveLength(2);
    expect(await memoOf(store, workflowOf('nowhere.mld'))).toEqual([]);
  });
});

describe('the events of a run', () => {
  const executed: Projection<number> = {
    initial: () => 0,
    apply: (count, event) => (event.type === 'call.started' ? count + 1 : count),
  };

  async function all(events: AsyncIterable<JournalEvent>): Promise<JournalEvent[]> {
    const found = [];
    for await (const event of events) found.push(event);
    return found;
  }

  it('are read in order, by type and by operation', async () => {
    const events = await all(readEvents(store, before));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
    expect(events.map(describeEvent)).toContain('checkpoint "first" reached');
    const calls = await all(readEvents(store, before, { types: ['call'] }));
    expect(calls).toEqual(events.filter(({ type }) => type.startsWith('call.')));
  });

  it('are folded, for one run and for all of a workflow', async () => {
    expect(await foldRun(store, before, executed)).toBe(2);
    expect(await foldWorkflow(store, before.ref.workflow, executed)).toBe(3);
  });

  it('are followed while the run goes on, to its last', async () => {
    const memory = openMemoryStore();
    const seen: string[] = [];
    let following: Promise<void> | undefined;
    const follow = async (): Promise<void> => {
      const [workflow] = await memory.workflows();
      const [file] = workflow === undefined ? [] : await memory.runs(workflow);
      for await (const event of followRun(memory, file as RunFile, { everyMs: 1 })) seen.push(event.type);
    };
    const { status } = await run({
      script: { kind: 'text', text: 'show "up"\nshow "away"\n', name: 'balloon.mld' },
      workingDirectory: folder,
      cache: { record: true },
      io: { stdout: () => void (following ??= follow()) },
      openStore: async () => memory,
    });
    await following;
    expect(status).toBe('completed');
    expect([seen[0], seen.at(-1)]).toEqual(['run.started', 'run.finished']);
  });

  it('are not followed any more once the caller has enough', async () => {
    const memory = openMemoryStore();
    const journal = await memory.create({ workflow: workflowOf('long.mld'), run: newRunId() });
    const enough = new AbortController();
    const following = all(followRun(memory, journal.ref, { signal: enough.signal }));
    enough.abort();
    expect(await following).toEqual([]);
    await journal.close();
  });
});

describe('ids', () => {
  it('are made of texts and times', () => {
    const id = newRunId(Date.UTC(2026, 10, 21));
    expect(isRunId(id)).toBe(true);
    expect(startOfRun(id)).toBe(Date.UTC(2026, 10, 21));
    expect(newRunId() < newRunId(Date.now() + 10)).toBe(true);
    expect(digestOf(`sha256:${'a'.repeat(64)}`)).toMatch(/^sha256/);
  });

  it.each([() => runIdOf('latest'), () => digestOf('sha256:short')])('refuse a text that is none', (make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'BAD_OPTION' }) as Error);
  });
});
