/**
 * SIGKILL of mlld while long commands run: they end with it, and where they can't, the next resume of the run ends them first.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';

import { CHAIN_SEED, encode } from '../../journal/codec.js';
import type { EventOf, Fact, JournalEvent } from '../../journal/event.js';
import { processStatus } from '../../journal/storage/processes.js';
import { projectFolder, resultOf, runCli, startCli, type CliProcess } from '../support/cli.js';
import { processList } from '../support/process-list.js';
import { journalFiles } from './workflow.js';

/** Says its number, and works for a minute; run again it is done at once. */
const AGENT = 'echo $$ >> pids; if [ -e second ]; then echo done; else exec sleep 60; fi';
const SCRIPT = `/exe llm @agent(q) = cmd { sh agent.sh }\n/show @agent("a")\n`;
const PIPELINE = `digraph ferry { start [shape=Mdiamond]; work [shape=parallelogram, tool_command="sh agent.sh"]; done [shape=Msquare]; start -> work -> done }`;

const started: (CliProcess | ChildProcess)[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

async function project(): Promise<string> {
  return projectFolder({ 'job.mld': SCRIPT, 'ferry.dot': PIPELINE, 'agent.sh': AGENT });
}

/** Numbers of the agents that were started so far. */
function agentsIn(cwd: string): readonly number[] {
  const file = path.join(cwd, 'pids');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
}

async function startWorking(cwd: string, argv: readonly string[]): Promise<{ readonly run: CliProcess; readonly agent: number }> {
  const before = agentsIn(cwd).length;
  const run = startCli(argv, { cwd });
  started.push(run);
  const agent = await until(() => agentsIn(cwd)[before]);
  return { run, agent };
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(20);
  }
}

/** False for one that is dead and that its parent hasn't waited for. */
async function lives(pid: number): Promise<boolean> {
  return (await processList()).some((each) => each.pid === pid);
}

async function ends(pid: number): Promise<void> {
  await until(async () => ((await lives(pid)) ? undefined : true));
}

async function watcherOf(run: CliProcess): Promise<number> {
  const all = await processList();
  return all.find(({ parent, line }) => parent === run.pid && line.includes('mlld-watcher'))?.pid as number;
}

function killed(run: CliProcess): Promise<unknown> {
  const result = resultOf(run);
  run.kill('SIGKILL');
  return new Promise((resolve) => run.once('exit', resolve)).then(() => void result);
}

/** Kills all that could end the agents, as if the system had killed the whole run. */
async function killedWithItsWatcher(run: CliProcess): Promise<void> {
  process.kill(await watcherOf(run), 'SIGKILL');
  await killed(run);
}

describe.each([
  ['a script', ['job.mld', '--checkpoint'], ['job.mld', '--resume']],
  ['a pipeline', ['run', 'ferry.dot'], ['run', 'ferry.dot', '--resume']],
])('%s whose run is killed', (_, argv, resume) => {
  it('takes its commands along', async () => {
    const cwd = await project();
    const { run, agent } = await startWorking(cwd, argv);
    expect(await lives(agent)).toBe(true);
    const watcher = await watcherOf(run);
    await killed(run);
    await ends(agent);
    await ends(watcher);
  });

  it('is resumed when what it left running has been ended, and says so', async () => {
    const cwd = await project();
    const { run, agent } = await startWorking(cwd, argv);
    await killedWithItsWatcher(run);
    expect(await lives(agent)).toBe(true);
    fs.writeFileSync(path.join(cwd, 'second'), '');

    const { stderr, status } = await runCli(resume, { cwd });
    expect(stderr).toMatch(/^run \S+ was killed and left a command that is still running \(process group \d+\): ended/m);
    expect(status).toBe(0);
    expect(await lives(agent)).toBe(false);
    expect(agentsIn(cwd)).toHaveLength(2);
    // Orphans that were ended are not looked for again.
    const again = await runCli(argv, { cwd });
    expect(again.stderr).not.toContain('was killed and left');
  });

  it('is resumed when what it left running has ended by itself, with --keep-orphans', async () => {
    const cwd = await project();
    const { run, agent } = await startWorking(cwd, argv);
    await killedWithItsWatcher(run);
    fs.writeFileSync(path.join(cwd, 'second'), '');

    const resumed = startCli([...resume, '--keep-orphans'], { cwd });
    started.push(resumed);
    let told = '';
    resumed.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const result = resultOf(resumed);
    await until(() => (told.includes('waiting until it ends, as --keep-orphans says') ? true : undefined));
    await delay(700);
    expect(agentsIn(cwd)).toEqual([agent]);
    expect(await lives(agent)).toBe(true);
    process.kill(agent, 'SIGTERM');
    expect((await result).status).toBe(0);
    expect(agentsIn(cwd)).toHaveLength(2);
  });
});

/** Writes the journal of the only run again, with other facts about the process that it had started. */
function rewriteProcess(cwd: string, facts: Partial<EventOf<'process.started'>>): void {
  const [file] = journalFiles(cwd) as [string];
  let previous = CHAIN_SEED;
  const lines = fs.readFileSync(file, 'utf8').trimEnd().split('\n');
  const written = lines.map((line) => {
    const { v: _v, seq, ts, hash: _hash, ...fact } = JSON.parse(line) as JournalEvent;
    const encoded = encode({ ...fact, ...(fact.type === 'process.started' ? facts : {}) } as Fact, seq, ts, previous);
    previous = encoded.hash;
    return encoded.text;
  });
  fs.writeFileSync(file, written.join(''));
}

describe('a process with the number of one that a killed run had started', () => {
  it.each([
    ['that began at another time is left alone', { started: '1' }, true],
    ['of another boot is left alone', { boot: 'another' }, true],
    ['that is the same one is ended', {}, false],
  ])('%s', async (_, other, survives) => {
    const cwd = await project();
    const { run, agent } = await startWorking(cwd, ['job.mld', '--checkpoint']);
    await killed(run);
    await ends(agent);
    const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    started.push(stranger);
    const group = stranger.pid as number;
    rewriteProcess(cwd, { group, started: processStatus(group)?.started ?? '', ...other });
    fs.writeFileSync(path.join(cwd, 'second'), '');

    const { stderr, status } = await runCli(['job.mld', '--resume'], { cwd });
    expect(stderr.includes('was killed and left')).toBe(!survives);
    expect(status).toBe(0);
    expect(await lives(group)).toBe(survives);
  });
});

describe('the watcher of a run', () => {
  it.each([
    ['ends in order', (_run: CliProcess, agent: number) => process.kill(agent, 'SIGTERM')],
    ['is interrupted', (run: CliProcess) => run.kill('SIGINT')],
  ])('ends with a run that %s', async (_, end) => {
    const cwd = await project();
    const argv = ['job.mld', '--checkpoint'];
    const { run, agent } = await startWorking(cwd, argv);
    const watcher = await watcherOf(run);
    expect(watcher).toBeGreaterThan(0);
    const result = resultOf(run);
    end(run, agent);
    await result;
    await ends(watcher);
  });
});
