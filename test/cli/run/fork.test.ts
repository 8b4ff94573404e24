import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, startCli, type CliResult } from '../../support/cli.js';

/** A function that writes its argument into `calls.log` and names its version in its result. */
const ask = (who: string): string => `exe llm @ask(q) = sh { echo "$q" >> calls.log; echo "${who}:$q" }\n`;
const COLLECT = `${ask('C')}show @ask("ebb")\nshow @ask("flow")\n`;
const SURVEY = `${ask('S')}show @ask("slack")\n`;
const ANALYZE = `${ask('N')}show @ask("ebb")\nshow @ask("flow")\nshow @ask("slack")\n`;

interface Folder {
  readonly cwd: string;
  readonly mlld: (...argv: string[]) => Promise<CliResult>;
  /** Returns the arguments of the calls since the last time. */
  readonly asked: () => string[];
  readonly write: (name: string, text: string) => void;
}

async function folder(files: { readonly [name: string]: string } = {}): Promise<Folder> {
  const cwd = await projectFolder({ 'collect.mld': COLLECT, 'survey.mld': SURVEY, 'analyze.mld': ANALYZE, ...files });
  const log = path.join(cwd, 'calls.log');
  let seen = 0;
  return {
    cwd,
    mlld: (...argv) => callCli(argv, { cwd }),
    asked() {
      const all = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
      return all.slice(seen, (seen = all.length));
    },
    write: (name, text) => fs.writeFileSync(path.join(cwd, name), text),
  };
}

async function runsOf({ mlld }: Folder, script: string): Promise<string[]> {
  const { stdout } = await mlld('journal', 'list', script, '--json');
  return (JSON.parse(stdout) as { run: string }[]).map(({ run }) => run).toReversed();
}

describe('--fork', () => {
  it('reuses results of several sources, the first one first, and executes what none of them has', async () => {
    const project = await folder({ 'analyze.mld': `${ANALYZE}show @ask("neap")\n` });
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('survey.mld', '--checkpoint');
    project.asked();
    const { stdout } = await project.mlld('analyze.mld', '--fork', 'survey', '--fork', 'collect');
    expect(stdout).toBe('C:ebb\nC:flow\nS:slack\nN:neap\n');
    expect(project.asked()).toEqual(['neap']);
  });

  it('knows forked results by their first words even if the source is not named any more', async () => {
    const project = await folder();
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('analyze.mld', '--fork', 'collect');
    project.asked();
    expect(await project.mlld('analyze.mld', '--resume', '@ask("fl")')).toMatchObject({ stdout: 'N:ebb\nN:flow\nN:slack\n', status: 0 });
    expect(project.asked()).toEqual(['ebb', 'flow', 'slack']);
    expect(await project.mlld('analyze.mld', '--resume', '@ask("neap")')).toMatchObject({ stdout: '', status: 1 });
  });

  it('shows no first words of a forked result with a secret', async () => {
    const secret = 'var secret @word = "syzygy"\n';
    const project = await folder({
      'collect.mld': `${ask('C')}show @ask("syzygy")\n`,
      'analyze.mld': `${ask('N')}${secret}var @x = @ask(@word)\n`,
    });
    await project.mlld('collect.mld', '--checkpoint');
    expect(await project.mlld('analyze.mld', '--fork', 'collect')).toMatchObject({ status: 0 });
    expect((await project.mlld('journal', 'show', 'analyze', '--json')).stdout).toContain('call.reused');
    expect((await project.mlld('journal', 'show', 'analyze', '--json')).stdout).not.toContain('syzygy');
  });

  it('sees the source as it was at the end of a run, or at one event of it', async () => {
    const project = await folder();
    project.write('collect.mld', `${ask('C')}show @ask("ebb")\n`);
    await project.mlld('collect.mld', '--checkpoint');
    project.write('collect.mld', COLLECT);
    await project.mlld('collect.mld', '--checkpoint');
    const [first = '', second = ''] = await runsOf(project, 'collect');
    expect((await project.mlld('analyze.mld', '--fork', `collect@${first}`, '--fresh')).stdout).toBe('C:ebb\nN:flow\nN:slack\n');
    expect((await project.mlld('analyze.mld', '--fork', `collect@${second}`, '--fresh')).stdout).toBe('C:ebb\nC:flow\nN:slack\n');
    expect((await project.mlld('analyze.mld', '--fork', 'collect@latest', '--fresh')).stdout).toBe('C:ebb\nC:flow\nN:slack\n');
    expect((await project.mlld('analyze.mld', '--fork', 'collect@2', '--fresh')).stdout).toBe('C:ebb\nN:flow\nN:slack\n');
    const { stdout } = await project.mlld('journal', 'show', second, '--type', 'call.completed', '--json');
    const { seq } = JSON.parse(stdout.split('\n')[0] as string) as { seq: number };
    expect((await project.mlld('analyze.mld', '--fork', `collect@${second}:${seq}`, '--fresh')).stdout).toBe('C:ebb\nC:flow\nN:slack\n');
    expect((await project.mlld('analyze.mld', '--fork', `collect@${second}:${seq - 1}`, '--fresh')).stdout).toBe(
      'C:ebb\nN:flow\nN:slack\n',
    );
  });

  it('refuses a run that is not there, and says which are', async () => {
    const project = await folder();
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('survey.mld', '--checkpoint');
    const [run = ''] = await runsOf(project, 'collect');
    const [ofAnother = ''] = await runsOf(project, 'survey');
    project.asked();
    for (const source of ['collect@20200101-000000-000-aaaa', `collect@${ofAnother}`, 'collect@7', `collect@${run}:99999`]) {
      const { status, stdout, stderr } = await project.mlld('analyze.mld', '--fork', source);
      expect({ source, status, stdout }).toEqual({ source, status: 1, stdout: '' });
      expect(stderr).toContain(`--fork ${source}`);
      expect(stderr).toContain(run);
    }
    expect((await project.mlld('analyze.mld', '--fork', 'nobody@latest')).stderr).toMatch(
      /no recorded run of nobody, so @latest names none\n {2}hint: record one first: mlld run nobody --checkpoint; runs are recorded of /,
    );
    for (const source of ['collect@', `collect@${run}:`, `collect@${run}:x`, 'collect@RUN']) {
      const { stderr } = await project.mlld('analyze.mld', '--fork', source);
      expect(stderr).toContain(`--fork ${source}: no run matches the part after @\n  hint: collect@latest, collect@2`);
    }
    expect((await project.mlld('analyze.mld', '--fork', 'nobody')).stderr).toContain('mlld run nobody --checkpoint');
    expect((await project.mlld('analyze.mld', '--fork', './nobody.mld')).stderr).toContain('mlld ./nobody.mld --checkpoint');
    expect(project.asked()).toEqual([]);
    expect(await runsOf(project, 'collect')).toEqual([run]);
  });

  it('refuses runs that clean has forgotten', async () => {
    const project = await folder();
    await project.mlld('collect.mld', '--checkpoint');
    const [run = ''] = await runsOf(project, 'collect');
    await project.mlld('checkpoint', 'clean', 'collect');
    expect((await project.mlld('analyze.mld', '--fork', `collect@${run}`)).status).toBe(1);
    await project.mlld('collect.mld', '--checkpoint');
    expect((await project.mlld('analyze.mld', '--fork', `collect@${run}`)).stderr).toContain('has no recorded run');
  });

  it('passes on only what the middle script executed itself', async () => {
    const project = await folder({ 'last.mld': `${ask('L')}show @ask("ebb")\nshow @ask("slack")\n` });
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('analyze.mld', '--fork', 'collect');
    expect((await project.mlld('last.mld', '--fork', 'analyze')).stdout).toBe('L:ebb\nN:slack\n');
  });

  it('reuses what a run had before it crashed, and what a running one has so far', async () => {
    const project = await folder({ 'slow.mld': `${ask('W')}show @ask("ebb")\nrun sh { sleep 20 }\nshow @ask("flow")\n` });
    const child = startCli(['slow.mld', '--checkpoint'], { cwd: project.cwd });
    child.stdin.end();
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    while (!shown.includes('W:ebb')) await sleep(10);
    expect((await project.mlld('analyze.mld', '--fork', 'slow', '--fresh')).stdout).toBe('W:ebb\nN:flow\nN:slack\n');
    const [running = ''] = await runsOf(project, 'slow');
    expect((await project.mlld('analyze.mld', '--fork', `slow@${running}`, '--fresh')).stdout).toBe('W:ebb\nN:flow\nN:slack\n');
    child.kill('SIGKILL');
    await once(child, 'close');
    expect((await project.mlld('analyze.mld', '--fork', `slow@${running}`, '--fresh')).stdout).toBe('W:ebb\nN:flow\nN:slack\n');
  });

  it('never changes the source, whatever else is on the command line', async () => {
    const project = await folder();
    await project.mlld('collect.mld', '--checkpoint');
    const before = recordOf(project, 'collect');
    await project.mlld('analyze.mld', '--fork', 'collect');
    await project.mlld('analyze.mld', '--fork', 'collect', '--resume', '@ask');
    await project.mlld('analyze.mld', '--fork', 'collect', '--fresh');
    expect(recordOf(project, 'collect')).toEqual(before);
    project.asked();
    expect((await project.mlld('collect.mld', '--checkpoint')).stdout).toBe('C:ebb\nC:flow\n');
    expect(project.asked()).toEqual([]);
  });

  it('takes the result of the next source when one is lost, and executes once when none has it', async () => {
    /** These results are stored in blobs. */
    const long = (who: string): string =>
      `exe llm @ask(q) = sh { echo "$q" >> calls.log; printf "${who}:$q "; head -c 70000 /dev/zero | tr '\\0' x }\n`;
    const project = await folder({
      'collect.mld': `${long('C')}show @ask("ebb")\n`,
      'survey.mld': `${ask('S')}show @ask("ebb")\n`,
      'analyze.mld': `${ask('N')}show @ask("ebb")\nshow @ask("ebb")\nshow @ask("ebb")\n`,
    });
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('survey.mld', '--checkpoint');
    fs.rmSync(path.join(project.cwd, '.mlld/journal/blobs'), { recursive: true });
    project.asked();

    const second = await project.mlld('analyze.mld', '--fork', 'collect', '--fork', 'survey');
    expect(second).toMatchObject({ stdout: 'S:ebb\nS:ebb\nS:ebb\n', status: 0 });
    expect(second.stderr).toContain("a recorded result of @ask can't be read any more; another recorded result is reused");
    expect(project.asked()).toEqual([]);

    const alone = await project.mlld('analyze.mld', '--fork', 'collect');
    expect(alone.stdout).toBe('N:ebb\nN:ebb\nN:ebb\n');
    expect(alone.stderr).toContain("a recorded result of @ask can't be read any more; the call is executed again");
    expect(project.asked()).toEqual(['ebb']);
    expect((await project.mlld('analyze.mld', '--fork', 'collect')).stdout).toBe('N:ebb\nN:ebb\nN:ebb\n');
    expect(project.asked()).toEqual([]);
  });

  it('executes once when the files of a forked result were changed', async () => {
    const draw =
      'exe llm @draw(n) = sh { echo "$n" >> calls.log; echo "drew $n $RANDOM" > $n.txt; echo done } with { writes: "@root/@n\\.txt" }\n';
    const project = await folder({
      'collect.mld': `${draw}show @draw("ebb")\n`,
      'analyze.mld': `${draw}show @draw("ebb")\nshow @draw("ebb")\nshow @draw("ebb")\n`,
    });
    await project.mlld('collect.mld', '--checkpoint');
    project.write('ebb.txt', 'mine');
    project.asked();
    const { stderr, stdout } = await project.mlld('analyze.mld', '--fork', 'collect');
    expect(stdout).toBe('done\ndone\ndone\n');
    expect(stderr.match(/changed since/g)).toHaveLength(1);
    expect(project.asked()).toEqual(['ebb']);
  });
});

describe('--fork beside other flags', () => {
  it('with --resume @fn executes again, and the refusal lasts until --fresh', async () => {
    const project = await folder();
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('analyze.mld', '--fork', 'collect');
    const again = await project.mlld('analyze.mld', '--fork', 'collect', '--resume', '@ask');
    expect(again.stdout).toBe('N:ebb\nN:flow\nN:slack\n');
    expect(again.stderr).toContain('3 of 3 calls will run again');
    expect((await project.mlld('analyze.mld', '--fork', 'collect')).stdout).toBe('N:ebb\nN:flow\nN:slack\n');
    expect((await project.mlld('analyze.mld', '--fork', 'collect', '--fresh')).stdout).toBe('C:ebb\nC:flow\nN:slack\n');
  });

  it('with --resume counts own and forked results, as the plan does', async () => {
    const project = await folder();
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('analyze.mld', '--fork', 'collect');
    const again = ['analyze.mld', '--fork', 'collect', '--resume', '@ask("flow")'];
    expect((await project.mlld(...again, '--plan')).stdout).toContain('2 of 3 calls will run again');
    expect((await project.mlld(...again)).stderr).toContain('2 of 3 calls will run again');
  });

  it('with a checkpoint keeps what the prior run used before it, forked or not', async () => {
    const project = await folder({
      'analyze.mld': `${ask('N')}show @ask("ebb")\ncheckpoint "collected"\nshow @ask("flow")\nshow @ask("slack")\n`,
    });
    await project.mlld('collect.mld', '--checkpoint');
    await project.mlld('analyze.mld', '--fork', 'collect');
    project.asked();
    expect((await project.mlld('analyze.mld', '--fork', 'collect', '--resume', 'collected')).stdout).toBe('C:ebb\nN:flow\nN:slack\n');
    expect(project.asked()).toEqual(['flow', 'slack']);
  });

  it('with --changed ask executes where the definition differs from the recorded one', async () => {
    const project = await folder({ 'same.mld': `${ask('C')}show @ask("ebb")\n` });
    await project.mlld('collect.mld', '--checkpoint');
    project.asked();
    expect((await project.mlld('same.mld', '--fork', 'collect', '--changed', 'ask')).stdout).toBe('C:ebb\n');
    expect(project.asked()).toEqual([]);
    expect((await project.mlld('analyze.mld', '--fork', 'collect', '--changed', 'ask')).stdout).toBe('N:ebb\nN:flow\nN:slack\n');
    expect(project.asked()).toEqual(['ebb', 'flow', 'slack']);
  });
});

describe('--resume beside --fresh and --changed', () => {
  it('has nothing to invalidate behind --fresh, and no checkpoint', async () => {
    const project = await folder({ 'collect.mld': `${COLLECT}checkpoint "done"\n` });
    await project.mlld('collect.mld', '--checkpoint');
    project.asked();
    const fresh = await project.mlld('collect.mld', '--fresh', '--resume', '@ask');
    expect(fresh).toMatchObject({ status: 0, stdout: 'C:ebb\nC:flow\n' });
    expect(fresh.stderr).toContain('nothing to invalidate');
    expect(project.asked()).toEqual(['ebb', 'flow']);
    expect(await project.mlld('collect.mld', '--fresh', '--resume', 'done')).toMatchObject({ status: 1, stdout: '' });
    expect(project.asked()).toEqual([]);
  });

  it('executes again what was edited, and what the target selects', async () => {
    const judged = 'exe llm @judge(q) = sh { echo "judge $q" >> calls.log; echo "J:$q" }\nshow @judge("ebb")\n';
    const project = await folder({ 'collect.mld': COLLECT + judged });
    await project.mlld('collect.mld', '--checkpoint');
    project.write('collect.mld', COLLECT.replace('C:', 'D:') + judged);
    project.asked();
    const served = await project.mlld('collect.mld', '--resume');
    expect(served.stdout).toBe('C:ebb\nC:flow\nJ:ebb\n');
    expect(served.stderr).toContain(
      '@ask: 2 results reused from before its body was edited; --resume @ask or --changed ask runs them again',
    );
    expect(project.asked()).toEqual([]);
    expect((await project.mlld('collect.mld', '--changed', 'ask', '--resume', '@judge')).stdout).toBe('D:ebb\nD:flow\nJ:ebb\n');
    expect(project.asked()).toEqual(['ebb', 'flow', 'judge ebb']);
  });

  it('names the variable that has another value', async () => {
    const script = (model: string): string =>
      `var @model = "${model}"\nexe llm @ask(q) = \`@model says @q\`\nshow @ask("ebb")\nshow @ask("flow")\n`;
    const project = await folder({ 'collect.mld': script('sonnet') });
    await project.mlld('collect.mld', '--checkpoint');
    project.write('collect.mld', script('opus'));
    const { stdout, stderr } = await project.mlld('collect.mld', '--checkpoint');
    expect(stdout).toBe('sonnet says ebb\nsonnet says flow\n');
    expect(stderr.split('\n')[0]).toBe(
      '@ask: 2 results reused from before its definition was edited (@model was sonnet, is opus); --resume @ask or --changed ask runs them again',
    );
  });
});

/** Reads all files that belong to a script in the journal. */
function recordOf({ cwd }: Folder, script: string): { readonly [name: string]: string } {
  const root = path.join(cwd, '.mlld', 'journal');
  const files = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes(script) && name.endsWith('.ndjson'));
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(root, name), 'utf8')]));
}
