/** Values of `--set` that a graph declares secret are in no file and no line that a pipeline leaves; its commands have them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';

const SECRET = 'hunter-2-sesame';
const DOT = `digraph p {
  graph [secrets="token, pin", backend="cmd:cat >/dev/null; echo the token is $MLLD_SECRET_TOKEN"]
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [prompt="A"]
  t [shape=parallelogram, tool_command="echo $MLLD_SECRET_TOKEN $MLLD_SECRET_PIN; echo $MLLD_SECRET_TOKEN >&2; printf '{\\"outcome\\":\\"success\\",\\"notes\\":\\"%s\\"}' $MLLD_SECRET_TOKEN > $MLLD_STATUS_FILE; test -f done || { touch done; exit 1; }; test \${#MLLD_SECRET_TOKEN} = ${SECRET.length}"]
  start -> a -> t -> exit
}
`;

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function filesBelow(at: string): readonly string[] {
  return readdirSync(at).flatMap((name) => {
    const file = path.join(at, name);
    return statSync(file).isDirectory() ? filesBelow(file) : [file];
  });
}

it('masks a secret setting everywhere, and requires it again', { timeout: 60_000 }, async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'mlld-secret-'));
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  writeFileSync(path.join(folder, 'p.dot'), DOT);
  const run = async (...argv: readonly string[]): Promise<{ readonly status: number | undefined; readonly said: string }> => {
    const { status, stdout, stderr } = await callCli(argv, { cwd: folder });
    return { status, said: stdout + stderr };
  };
  const failed = await run('run', 'p.dot', '--set', `token=${SECRET}`, '--set=pin=77', '--set', 'berth=4');
  expect(failed.status).toBe(1);
  expect(failed.said).toContain('--set berth=4');

  const forgotten = await run('run', 'p.dot', '--resume');
  expect(forgotten).toMatchObject({ status: 1 });
  expect(forgotten.said).toContain('--set token=VALUE');

  const resumed = await run('run', 'p.dot', '--resume', '--set', `token=${SECRET}`, '--set', 'pin=77');
  expect(resumed.status).toBe(0);
  expect(resumed.said).not.toContain('no effect');

  for (const which of ['p.dot', 'p.dot@2']) {
    const replayed = await run('journal', 'replay', which, '--json');
    expect(replayed.said).toContain('"verdict": "same"');
    expect(replayed.said).not.toContain(SECRET);
  }

  const left = filesBelow(path.join(folder, '.mlld')).filter((file) =>
    [SECRET, 'pin=77'].some((text) => readFileSync(file).includes(text)),
  );
  expect(left).toEqual([]);
  expect(`${failed.said}${forgotten.said}${resumed.said}`).not.toContain(SECRET);
  const checkpoint = filesBelow(path.join(folder, '.mlld', 'graph')).find((file) => file.endsWith('checkpoint.json')) ?? '';
  const { context } = JSON.parse(readFileSync(checkpoint, 'utf8')) as { readonly context: { readonly [key: string]: unknown } };
  expect(context).toMatchObject({ token: '[secret]', pin: '[secret]', berth: '4' });
});

it('masks a value that a stage puts into a URL, and warns that a short value is not masked', { timeout: 60_000 }, async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'mlld-secret-'));
  const password = 'p"a ss/w+rd-é';
  writeFileSync(path.join(folder, 'mlld-config.json'), '{}');
  const inUrl = `node -e 'console.log(encodeURIComponent(process.env.MLLD_SECRET_TOKEN))'`;
  writeFileSync(
    path.join(folder, 'p.dot'),
    `digraph p {
  graph [secrets="token, pin"]
  start [shape=Mdiamond]
  exit [shape=Msquare]
  t [shape=parallelogram, tool_command="${inUrl}"]
  start -> t -> exit
}
`,
  );
  const { status, stderr } = await callCli(['run', 'p.dot', '--set', `token=${password}`, '--set', 'pin=77'], { cwd: folder });
  expect(status).toBe(0);
  expect(stderr).toContain('warning: the value of pin is secret and shorter than 6 characters');
  expect(stderr).not.toContain('the value of token');
  const spelled = encodeURIComponent(password);
  expect(filesBelow(path.join(folder, '.mlld')).filter((file) => readFileSync(file).includes(spelled))).toEqual([]);
});
