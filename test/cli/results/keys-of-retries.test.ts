import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder } from '../../support/cli.js';

const script = (functions: string, hint: string): string =>
  `${functions}\nexe @check(v) = when [\n  @mx.try < 2 => retry "${hint}"\n  * => @v\n]\nvar @r = @draft("a") | @check\nshow @r\n`;

async function runs(functions: string, hints: readonly string[]): Promise<readonly string[]> {
  const cwd = await projectFolder({});
  const found: string[] = [];
  for (const hint of hints) {
    await fs.writeFile(path.join(cwd, 'job.mld'), script(functions, hint));
    const { stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
    found.push(`${stdout.trim()}: ${/^\d+ calls: (.*?), (?:cost|\d+(?:\.\d+)?m?s)/m.exec(stderr)?.[1] ?? stderr}`);
  }
  return found;
}

describe('a retry', () => {
  it.each([
    ['in a template', 'exe llm @draft(q) = `@q [@mx.hint]`'],
    ['in code', 'exe llm @draft(q) = js { const { hint } = mx; return `${q} [${hint ?? ""}]` }'],
    ['by a name in brackets', 'exe llm @draft(q) = [\n  let @h = @mx["hint"]\n  => `@q [@h]`\n]'],
    ['in a function that it uses', 'exe @text(q) = `@q [@mx.hint]`\nexe llm @draft(q) = `@text(@q)`'],
    [
      'in a function of its environment',
      'exe @said() = js { return mx.hint ?? "" }\nexe js = { said }\nexe llm @draft(q) = js { return `${q} [${said()}]` }',
    ],
    [
      'in a function among its arguments',
      'exe @text(q) = `@q [@mx.hint]`\nexe llm @ask(f, q) = [\n  => @f(@q)\n]\nexe @draft(q) = @ask(@text, @q)',
    ],
    ['in the function that it only calls', 'exe @text(q) = `@q [@mx.hint]`\nexe llm @draft(q) = @text(@q)'],
  ])('is another call with another hint, where the body reads it %s', async (_, functions) => {
    expect(await runs(functions, ['short', 'short', 'long', 'short'])).toEqual([
      'a [short]: 2 executed',
      'a [short]: 2 reused',
      'a [long]: 1 reused, 1 executed',
      'a [short]: 2 reused',
    ]);
  });

  it.each([
    ['reads only the number of the attempt', 'exe llm @draft(q) = js { return q + mx.try }', 'a2'],
    ['reads only that in a template', 'exe llm @draft(q) = `@q @mx.try`', 'a 2'],
    ['only calls one that reads no hint', 'exe @text(q) = `@q @mx.try`\nexe llm @draft(q) = @text(@q)', 'a 2'],
    ['has keys of its own', 'exe llm @draft(q) = `@q` with { key: [@q] }', 'a'],
  ])('is the same call with another hint, where the function %s', async (_, functions, shown) => {
    expect(await runs(functions, ['short', 'long'])).toEqual([`${shown}: 2 executed`, `${shown}: 2 reused`]);
  });

  it('is named by its hint where the journal says why it was executed', async () => {
    const cwd = await projectFolder({});
    for (const hint of ['short', 'long']) {
      await fs.writeFile(path.join(cwd, 'job.mld'), script('exe llm @draft(q) = `@q [@mx.hint]`', hint));
      await callCli(['job.mld', '--checkpoint'], { cwd });
    }
    const { stdout } = await callCli(['journal', 'explain', 'job'], { cwd });
    expect(stdout).toContain('@draft(a) attempt 2 executed: the hint of its retry, or what it forwards, changed');
  });
});
