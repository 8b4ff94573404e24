/** A result that waits for guards is taken away by what takes a result away, and goes where its run goes. calls.md 15 and 17.4. */
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const CHECK = 'exe @check(t) = node { if (!require("fs").existsSync("ok")) throw new Error("broken"); return "yes" }\n';
const guardOf = (what: string): string => `guard @g after ${what} = when [\n  @check(@output) == "no" => deny "bad"\n  * => allow\n]\n`;
const paying = (answer: string): string => `fs.appendFileSync("paid", n + "\\n"); mlld.usage({ model: "m", costUsd: 1 }); return ${answer}`;

/** The guard of the outer call fails, so that its result waits. Of two calls inside, one fails where the file `down` is there. */
const REPORT = `${CHECK}${guardOf('@report')}exe llm @part(n) = node {
  const fs = require("fs");
  if (n === "p2" && fs.existsSync("down")) throw new Error("down");
  ${paying('`${n}@${fs.readFileSync("paid", "utf8").trim().split("\\n").length}`')}
}
exe @good(l) = js { return l.filter((x) => typeof x === "string").join(" + ") }
exe llm @report(x) = [
  let @l = for parallel(1) @n in ["p1", "p2"] => @part(@n)
  => @good(@l)
]
show @report("q")
`;
const PART = 'main/report#0/for#0[0]/part#0';

async function project(files: { readonly [file: string]: string }) {
  const cwd = await projectFolder(files);
  const at = (file: string): string => path.join(cwd, file);
  return {
    cwd,
    mlld: (...words: string[]) => callCli(words, { cwd }),
    paid: () => fs.readFileSync(at('paid'), 'utf8').trim().split('\n').length,
    put: (file: string) => fs.writeFileSync(at(file), ''),
    remove: (file: string) => fs.rmSync(at(file)),
  };
}
type Project = Awaited<ReturnType<typeof project>>;

describe('the result around a call, which waits for its guards', () => {
  let its: Project;
  beforeEach(async () => {
    its = await project({ 'job.mld': REPORT });
  });
  const wait = async (): Promise<void> => {
    expect((await its.mlld('job.mld', '--checkpoint')).status).toBe(1);
    its.put('ok');
  };

  it('is made again where the call inside is selected by its argument or its path', async () => {
    await wait();
    const { stdout, stderr } = await its.mlld('job.mld', '--resume', '@part(= "p1")');
    expect(stdout).toBe('p1@3 + p2@2\n');
    expect(stderr).toContain('1 of 2 calls will run again; 1 more has no result yet\n');
    its.remove('ok');
    await its.mlld('job.mld', '--resume', PART); // the result waits again, and is made of another one
    its.put('ok');
    expect((await its.mlld('job.mld', '--resume', PART)).stdout).toBe('p1@5 + p2@2\n');
  });

  it('is judged where the function of the calls inside is selected, none of which the run makes', async () => {
    await wait();
    const plan = async (...target: string[]): Promise<unknown> =>
      JSON.parse((await its.mlld('job.mld', '--resume', ...target, '--plan', '--json')).stdout);
    expect(await plan('@part')).toMatchObject({ again: 0, unresolved: 1, unused: 2, estimate: { calls: 0 } });
    its.remove('ok');
    const told = '--resume @part: 1 call has no result yet; 2 further results are invalidated but this run does not need them\n';
    expect((await its.mlld('job.mld', '--resume', '@part')).stderr).toContain(told);
    expect(await plan()).toMatchObject({ again: 0, unresolved: 1, functions: [{ fn: 'report', unjudged: 1 }], estimate: { calls: 0 } });
    its.put('ok');
    expect((await its.mlld('job.mld', '--resume')).stdout).toBe('p1@1 + p2@2\n');
    expect(its.paid()).toBe(2);
  });

  it('is rejected with the result of the call inside, and usable again with it', async () => {
    await wait();
    const run = fs.readdirSync(path.join(its.cwd, '.mlld/journal/job.mld/runs'))[0]?.replace('.ndjson', '') ?? '';
    const rejected = await its.mlld('journal', 'reject', run, PART);
    expect(rejected.stdout).toContain('and with it that of the call of @report around it');
    expect(JSON.parse((await its.mlld('job.mld', '--resume', '--plan', '--json')).stdout)).toMatchObject({ again: 2, unresolved: 0 });
    const undone = await its.mlld('journal', 'reject', run, PART, '--undo');
    expect(undone.stdout).toContain('with that of the call of @report around it');
    await its.mlld('journal', 'reject', run, PART);
    await its.mlld('journal', 'reject', run, PART, '--undo');
    expect((await its.mlld('job.mld', '--resume')).stdout).toBe('p1@1 + p2@2\n');
    expect(its.paid()).toBe(2);
  });

  it('is made again where it was rejected', async () => {
    await wait();
    await its.mlld('journal', 'reject', 'latest', PART);
    expect((await its.mlld('job.mld', '--resume')).stdout).toBe('p1@3 + p2@2\n');
  });

  it('is made again by --resume failed where a call inside it had failed', async () => {
    its.put('down');
    await wait();
    its.remove('down');
    expect((await its.mlld('job.mld', '--resume', 'failed')).stdout).toBe('p1@1 + p2@2\n');
    expect((await its.mlld('job.mld', '--resume', 'failed')).stderr).toContain('no call is without a result; 1 result is reused');
  });
});

it('is not taken away by a call that its guards had made', async () => {
  const draft = `exe llm @draft(n) = node { const fs = require("fs"); ${paying('"D:" + n')} }\n`;
  const judge = 'exe llm @judge(t) = node { return "yes" }\n';
  const guard = guardOf('@draft').replace(
    '  * => allow',
    '  @judge(@output) == "no" => deny "bad"\n  @check(@output) == "no" => deny "bad"\n  * => allow',
  );
  const its = await project({ 'job.mld': `${CHECK}${judge}${guard.replace('@check', '@judge')}${draft}show @draft("a")\n` });
  expect((await its.mlld('job.mld', '--checkpoint')).status).toBe(1);
  its.put('ok');
  const { stdout, stderr } = await its.mlld('job.mld', '--resume', '@judge(= "D:a")');
  expect(stdout).toBe('D:a\n');
  expect(stderr).toContain('1 of 1 call will run again; 1 more has no result yet');
  expect(its.paid()).toBe(1);
});

it('is taken away by the node of a pipeline that made its call', async () => {
  const model = `exe llm @model(prompt, node, context) = node { const fs = require("fs"); const n = "a"; ${paying('"answer"')} }\n`;
  const graph =
    'digraph p { start [shape=Mdiamond]; a [prompt="write", backend="exe:m.mld#model"]; done [shape=Msquare]; start -> a -> done }';
  const its = await project({ 'm.mld': `${CHECK}${guardOf('@model')}${model}export { @model }\n`, 'p.dot': graph });
  expect((await its.mlld('run', 'p.dot')).status).not.toBe(0);
  its.put('ok');
  expect((await its.mlld('run', 'p.dot', '--resume', 'a')).status).toBe(0);
  expect(its.paid()).toBe(2);
});

it.each(['@agent', '@agent("one")', '@agent("label")', 'P'])('is taken away by the target %s of a workflow script', async (target) => {
  const its = await project({
    '.claude/workflows/b.js':
      "export const meta = { name: 'b', description: 'x', phases: [{ title: 'P' }] };\nreturn await agent('one', { label: 'label', phase: 'P' });\n",
    'agent.sh': 'cat > /dev/null; echo x >> paid; echo "answer"\n',
    'mlld-config.json': JSON.stringify({ agent: { backend: 'cmd:exec sh agent.sh', hooks: 'h.mld' } }),
    'h.mld': `${CHECK}${guardOf('op:agent')}`,
  });
  await its.mlld('run', 'b');
  expect(its.paid()).toBe(1);
  its.put('ok');
  const { stderr, status } = await its.mlld('run', 'b', '--resume', target);
  expect(status, stderr).toBe(0);
  expect(its.paid()).toBe(2);
});

it('goes into the bundle of the run that had it judged', async () => {
  const draft = `exe llm @draft(n) = node { const fs = require("fs"); ${paying('"D:" + n')} }\n`;
  const its = await project({ 'job.mld': `${CHECK}${guardOf('@draft')}${draft}show @draft("a")\n` });
  await its.mlld('job.mld', '--checkpoint');
  its.put('ok');
  await its.mlld('job.mld', '--resume');
  expect((await its.mlld('journal', 'bundle', 'latest', '-o', 'judged.tgz')).stderr).toContain('2 runs');
  fs.rmSync(path.join(its.cwd, '.mlld'), { recursive: true });
  await its.mlld('journal', 'unbundle', 'judged.tgz');
  expect(await its.mlld('journal', 'replay', 'latest')).toMatchObject({ status: 0, stdout: 'D:a\n' });
});
