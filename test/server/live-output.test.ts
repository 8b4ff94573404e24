/** A command of a run shows its output while it runs, and records it when it has ended. docs/decisions/0052-live-output.md */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCli } from '../support/cli.js';
import { pipeline } from '../support/pipeline-run.js';
import { serve, type Served } from '../support/served.js';

let served: Served;
beforeAll(async () => void (served = await serve()));
afterAll(() => served?.end('SIGKILL'));

interface Output {
  readonly executed_here: boolean;
  readonly commands: readonly { readonly op: string; readonly text: string }[];
}

function waitingFor(file: string, command: string): string {
  return `${command}; until test -e ${file}; do sleep 0.05; done; echo the end`;
}

it('shows whole lines of both streams while a command runs, and records them with its result alone', async () => {
  const command = waitingFor('go-a', String.raw`printf '\\033[1mline %s\\033[0m\\n' $((40 + 1)); echo line $((40 + 2)) >&2; printf half`);
  const id = await served.send(pipeline(`a [shape=parallelogram, tool_command="${command}"]; start -> a -> exit`));
  const both = ({ commands }: Output): boolean => ['line 41', 'line 42'].every((line) => commands[0]?.text.includes(line) === true);
  const output = (await served.until(`/pipelines/${id}/output`, both)) as Output;
  const text: unknown = expect.stringMatching(/^line (41\nline 42|42\nline 41)$/);
  expect(output).toEqual({ executed_here: true, commands: [{ op: 'main/a#0/try#1', text, is_cut: false, is_withheld: false }] });
  expect(kept()).toContain(id);
  expect(kept()).not.toContain('line 42');
  writeFileSync(path.join(served.folder, 'go-a'), '');
  await served.until(`/pipelines/${id}`, ({ status }: { status: string }) => status === 'completed');
  expect((await served.get(`/pipelines/${id}/output`)).body).toEqual({ executed_here: false, commands: [] });
  expect(kept()).toContain('line 42');
});

/** Returns everything that is on the disk about runs, without the files that are being written: they are renamed meanwhile. */
function kept(): string {
  const home = path.join(served.folder, '.mlld');
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.tmp'),
  );
  return files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8')).join('\n');
}

it('has marks in the place of secrets of the run', async () => {
  const command = waitingFor('go-b', 'echo line $MLLD_SECRET_TOKEN; echo $MLLD_SECRET_TOKEN | base64');
  const dot = pipeline(`a [shape=parallelogram, tool_command="${command}"]; start -> a -> exit`, 'secrets="token"');
  const id = await served.send(dot, { set: { token: 'sk-live-0123456789' } });
  const two = ({ commands }: Output): boolean => commands[0]?.text.split('\n').length === 2;
  const { commands } = (await served.until(`/pipelines/${id}/output`, two)) as Output;
  expect(commands[0]?.text).toMatch(/^line \[secret\]\n\[secret\]/);
  writeFileSync(path.join(served.folder, 'go-b'), '');
  await served.until(`/pipelines/${id}`, ({ status }: { status: string }) => status === 'completed');
});

it('says of a run of another process that its output is not here', async () => {
  const command = waitingFor('go-c', 'echo line');
  writeFileSync(path.join(served.folder, 'own.dot'), pipeline(`a [shape=parallelogram, tool_command="${command}"]; start -> a -> exit`));
  const own = startCli(['run', 'own.dot'], { cwd: served.folder });
  const ended = new Promise((resolve) => own.once('close', resolve));
  const listed = (await served.until('/pipelines', (runs: { status: string }[]) => runs.some(({ status }) => status === 'running'))) as {
    id: string;
    status: string;
  }[];
  const { id } = listed.find(({ status }) => status === 'running') as { id: string };
  expect((await served.get(`/pipelines/${id}/output`)).body).toEqual({ executed_here: false, commands: [] });
  writeFileSync(path.join(served.folder, 'go-c'), '');
  await ended;
});
