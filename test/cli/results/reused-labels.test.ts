/** A reused result has the labels and source markers of a fresh one. checkpoint-resume.md 5.5. */
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const LABELS = '@r.mx.labels.join(" ") / @r.mx.taint.join(" ")';

/** A function, how it is called, and the labels of the result, then its taint. */
const CALLS: readonly (readonly [title: string, script: string, shown: string])[] = [
  ['of a variable that its body reads', 'exe llm @f(q) = `@q @owner`\nvar @r = @f("x")', 'pii llm / pii llm src:template'],
  ['of a branch that was taken', 'exe llm @f(q) = when [ @q == "x" => @owner; * => "n" ]\nvar @r = @f("x")', 'pii llm / pii llm src:exe'],
  [
    'of a file that its body loads',
    'exe llm @f(q) = [\n  let @t = <note.md>\n  => `@q @t`\n]\nvar @r = @f("x")',
    'llm / llm src:file src:exe',
  ],
  ['of the function that it forwards to', 'exe llm @f(q) = @inner(@q)\nvar @r = @f("x")', 'hot llm / hot llm src:js src:exe'],
  ['of a large result', 'exe llm @f(q) = `@q @owner @long`\nvar @r = @f("x")', 'pii llm / pii llm src:js src:template'],
  [
    'that a guard adds to the result',
    'exe llm @f(q) = `@q`\nguard after @f = when [ * => allow with { addLabels: ["seen"] } ]\nvar @r = @f("x")',
    'seen llm / seen llm src:template',
  ],
  [
    'that a guard adds to the input',
    'exe llm @f(q) = `@q`\nguard before @f = when [ * => allow with { addLabels: ["seen"] } ]\nvar @r = @f("x")',
    'seen llm / seen llm src:template',
  ],
  [
    'that a guard adds to a result with others',
    'exe llm,slow @f(q) = `@q @owner`\nguard after @f = when [ * => allow with { addLabels: ["seen"] } ]\nvar hot @x = "x"\nvar @r = @f(@x)',
    'hot pii seen llm slow / hot pii seen llm slow src:template',
  ],
  [
    'that its body met and that it has itself',
    'var slow @lag = "late"\nexe llm,slow @f(q) = `@q @lag`\nvar hot @x = "x"\nvar @r = @f(@x)',
    'hot llm slow / hot llm slow src:template',
  ],
  [
    'without those that a guard takes away',
    'exe llm @f(q) = `@q`\nguard privileged after @f = when [ * => allow with { removeLabels: ["pii"] } ]\nvar @r = @f(@owner)',
    'llm / llm src:template',
  ],
  [
    'of what a word of control carries',
    'exe llm @f(q) = when [ @mx.while.iteration == 2 => done `@q!`; * => continue `@q @owner` ]\nvar @r = "x" | while(3) @f',
    'pii llm / pii llm src:exe',
  ],
];

describe('labels and source markers of a reused result', () => {
  it.each(CALLS)('%s', async (_title, script, shown) => {
    const text = `var pii @owner = "Rosa"
exe @repeat(n) = js { return "lorem ".repeat(n) }
var @long = @repeat(1000)
exe hot @inner(q) = js { return "i" + q }
${script}
show \`@r.length ${LABELS}\`
`;
    const cwd = await projectFolder({ 'job.mld': text, 'note.md': 'note' });
    const fresh = await callCli(['job.mld', '--checkpoint'], { cwd });
    const reused = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect((await callCli(['job.mld'], { cwd })).stdout).toBe(fresh.stdout); // not recorded
    expect(fresh.stdout).toMatch(/^\d+ /);
    expect(fresh.stdout.replace(/^\d+ /, '')).toBe(`${shown}\n`);
    expect(reused.stdout).toBe(fresh.stdout);
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toMatch(/: \d calls?, (\d) reused, 0 executed/);
  });

  it('are those of this call where guards took nothing away', async () => {
    const script = (declared: string) => `exe llm @f(q) = \`@q\`
guard privileged after @f = when [ * => allow with { removeLabels: ["pii"] } ]
var ${declared} @x = "Rosa"
var @r = @f(@x)
show @r.mx.labels.join(" ")
`;
    const cwd = await projectFolder({ 'job.mld': script('pii'), 'later.mld': script('pii,hot') });
    expect((await callCli(['job.mld', '--checkpoint'], { cwd })).stdout).toBe('llm\n');
    expect((await callCli(['later.mld', '--fork', 'job'], { cwd })).stdout).toBe('hot llm\n');
  });
});

describe('a word of control', () => {
  it('that a recorded call returns is the same word when it is reused', async () => {
    const cwd = await projectFolder({
      'job.mld': `exe llm @ask(q) = sh { echo "$q" >> calls.log; echo "A:$q" }
exe llm @work(state) = [
  let @next = @ask(@state)
  if @next.length > 9 [ done { text: @next } ]
  continue @next
]
var @done = "start" | while(9) @work
show @done.text
`,
    });
    const fresh = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(fresh).toMatchObject({ status: 0, stderr: expect.not.stringContaining('warning') as string });
    expect(fresh.stdout).toMatch(/^A:A:A:start\n$/);
    expect(await callCli(['job.mld', '--checkpoint'], { cwd })).toMatchObject({ status: 0, stdout: fresh.stdout });
    expect((await callCli(['journal', 'explain', 'job'], { cwd })).stdout).toMatch(/ 0 executed/);
  });

  it('is no result when it asks for another attempt', async () => {
    const cwd = await projectFolder({
      'job.mld': `exe llm @check(v) = when [ @mx.try < 3 => retry "again"; * => \`ok @v on @mx.try\` ]
exe @draft(q) = \`draft of @q\`
var @checked = "x" | @draft | @check
show @checked
`,
    });
    for (const run of [1, 2]) {
      expect({ run, ...(await callCli(['job.mld', '--checkpoint'], { cwd })) }).toMatchObject({ stdout: 'ok draft of x on 3\n' });
    }
  });
});
