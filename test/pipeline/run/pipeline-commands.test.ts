/** `mlld validate FILE.dot`, `mlld graph render` and the lines of `mlld run`, as a user runs them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';
import { pipeline } from '../../support/pipeline-run.js';

const kiln = `digraph kiln {
    start [shape=Mdiamond]
    fire  [shape=parallelogram, tool_command="exit 3"]
    cool  [shape=parallelogram, tool_command="true"]
    exit  [shape=Msquare]
    start -> fire
    fire -> cool [condition="outcome=fail"]
    fire -> exit
    cool -> exit
}
`;

describe('mlld validate', () => {
  it('says ok, and shows findings with their place and a fix', async () => {
    const cwd = await projectFolder({ 'kiln.dot': kiln, 'odd.dot': kiln.replace('"true"', '"true", lable=Cool') });
    expect(await callCli(['validate', 'kiln.dot'], { cwd })).toEqual({ stdout: 'kiln.dot: ok\n', stderr: '', status: 0 });
    const { stdout, status } = await callCli(['validate', 'odd.dot'], { cwd });
    expect(stdout).toBe(
      'odd.dot:4:54: warning[attribute_unknown] `lable` of `cool` is not an attribute that mlld knows: it is kept and has no effect\n' +
        '  fix: did you mean `label`?\n',
    );
    expect(status).toBe(0);
  });

  it('reports as JSON: a syntax error as well as findings', async () => {
    const cwd = await projectFolder({
      'open.dot': 'digraph g {\n a [b',
      'loose.dot': kiln.replace('fire -> exit', 'fire -> exit -> cool'),
    });
    const open = await callCli(['validate', 'open.dot', '--json'], { cwd });
    expect(JSON.parse(open.stdout)).toEqual({
      file: 'open.dot',
      ok: false,
      diagnostics: [
        {
          rule: 'dot_value',
          severity: 'error',
          message: 'The key `b` has no value',
          line: 2,
          column: 5,
          fix: 'write `b=true`, or the value that you mean',
        },
      ],
    });
    const loose = await callCli(['validate', 'loose.dot', '--format', 'json'], { cwd });
    expect(JSON.parse(loose.stdout)).toMatchObject({
      ok: false,
      diagnostics: [{ rule: 'exit_no_outgoing', severity: 'error', edge: ['exit', 'cool'], line: 8, column: 13 }],
    });
    expect([open.status, loose.status]).toEqual([1, 1]);
  });

  it('fails on warnings with --error-on-warnings', async () => {
    const cwd = await projectFolder({ 'gate.dot': kiln.replace('"true"', '"true", goal_gate=true') });
    expect((await callCli(['validate', 'gate.dot'], { cwd })).status).toBe(0);
    expect((await callCli(['validate', 'gate.dot', '--error-on-warnings'], { cwd })).status).toBe(1);
  });

  it('says that a file is not there', async () => {
    const { stderr, status } = await callCli(['validate', 'none.dot'], { cwd: await projectFolder() });
    expect(stderr).toContain('File not found: none.dot');
    expect(status).toBe(1);
  });
});

describe('mlld graph render', () => {
  it('draws a pipeline, plain and with what came of its nodes in a run', async () => {
    const cwd = await projectFolder({
      'kiln.dot': kiln.replace(
        'start -> fire',
        'spare [shape=diamond]\n start -> fire; fire -> spare [condition="outcome=skipped"]; spare -> exit',
      ),
    });
    expect(await callCli(['graph', 'render', 'kiln.dot', '-o', 'plain.svg'], { cwd })).toEqual({ stdout: '', stderr: '', status: 0 });
    const plain = await readFile(join(cwd, 'plain.svg'), 'utf8');
    expect(plain).toContain('<title>fire</title>');
    expect(plain).not.toContain('state');

    expect((await callCli(['run', 'kiln.dot'], { cwd })).status).toBe(0);
    const { stdout } = await callCli(['graph', 'render', 'kiln.dot', '--run', 'latest', '-o', '-'], { cwd });
    expect(stateOf(stdout, 'fire')).toBe('fail');
    expect(stateOf(stdout, 'cool')).toBe('success');
    expect(stateOf(stdout, 'spare')).toBeUndefined();
  });

  it('says which run is not there, where a picture can not be written, and what is no pipeline', async () => {
    const cwd = await projectFolder({ 'kiln.dot': kiln, 'bad.dot': 'digraph g { a -- b }' });
    const render = async (...words: string[]) => {
      const { stderr, status } = await callCli(['graph', 'render', ...words], { cwd });
      expect(status).toBe(1);
      return stderr;
    };
    expect(await render('kiln.dot', '--run', 'latest', '-o', 'x.svg')).toContain('There is no run "latest" of kiln.dot');
    expect(await render('kiln.dot', '-o', 'no/such/folder.svg')).toContain("no/such/folder.svg can't be written");
    expect(await render('bad.dot', '-o', 'x.svg')).toMatch(/Edges have a direction[^]*bad\.dot:1:15[^]*\^/);
  });
});

function stateOf(svg: string, node: string): string | undefined {
  const group = [...svg.matchAll(/<g id="[^"]*" class="([^"]*)">\s*<title>(\w+)<\/title>/g)].find(([, , title]) => title === node);
  return group?.[1]?.replaceAll('&#45;', '-').match(/state-(\w+)/)?.[1];
}

it('says in `journal explain` that a pipeline executes anew without --checkpoint, and reuses with it', async () => {
  const text = 'digraph ask { start [shape=Mdiamond]; exit [shape=Msquare]; a [prompt="one"]; start -> a -> exit }';
  const cwd = await projectFolder({ 'ask.dot': text });
  const explained = async (...flags: string[]): Promise<string> => {
    await callCli(['run', 'ask.dot', '--backend', 'cmd:echo reply', ...flags], { cwd });
    return (await callCli(['journal', 'explain', 'ask.dot'], { cwd })).stdout;
  };
  expect(await explained()).toContain('no recorded run made this call');
  expect(await explained()).toMatch(/there is a result in run \S+, and --checkpoint was not given/);
  expect(await explained('--checkpoint')).toContain('1 call, 1 reused');
});

/** Line breaks in reasons and labels begin no line that reads as if mlld had written it. */
const REPORT = String.raw`{"outcome":"fail","failure_reason":"bad\ng: completed"}`;

describe('mlld run, where texts have line breaks', () => {
  it('writes the reason that a stage reported on one line', async () => {
    const cwd = await projectFolder({
      'report.json': REPORT,
      'p.dot': pipeline('a [shape=parallelogram, tool_command="cp report.json $MLLD_STATUS_FILE"]; start -> a -> exit'),
    });
    const { stderr, status } = await callCli(['run', 'p.dot'], { cwd });
    expect(stderr).toMatch(/^a ended fail in \S+: bad\\ng: completed$/m);
    expect(stderr).toContain(String.raw`g: failed: bad\ng: completed`);
    expect(stderr).not.toMatch(/^g: completed$/m);
    expect(status).toBe(1);
  });

  it('indents further lines of a question', async () => {
    const body = String.raw`ask [shape=hexagon, label="Go?\ng: completed"]; start -> ask; ask -> exit [label="Yes\ng: failed"]`;
    const cwd = await projectFolder({ 'p.dot': pipeline(body) });
    const { stderr } = await callCli(['run', 'p.dot', '--ask', 'stdin'], { cwd, stdin: 'Y\n' });
    expect(stderr).toContain('q1: Go?\n  g: completed [Y] Yes\n  g: failed\n');
    expect(stderr).not.toMatch(/^g: /m);
  });
});
