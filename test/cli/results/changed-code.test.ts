import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../journal/event.js';
import { workflowOf, type RunRef } from '../../../journal/ids.js';
import { openFileStore } from '../../../journal/storage/file-store.js';
import { callCli } from '../../support/in-process/call-cli.js';
import { projectFolder, withoutSummary } from '../../support/cli.js';

const LISTED = 'var @depth = "4 m"\nexe llm @sound(x) = sh (@depth) { echo "at $depth" }\nshow @sound("a")\n';
const GIVEN =
  'exe @unit(n) = js { return n + " m" }\nexe js = { unit }\nexe llm @sound(x) = js { return "at " + unit(4) }\nshow @sound("a")\n';

const MODULE = 'import "./depths.mld" as @depths\nexe llm @sound(x) = [\n  => @depths.at(@x)\n]\nshow @sound("4 m")\n';
const MEMBER =
  'exe @tide(x) = `at @x`\nvar @tools = { tide: @tide, depth: "4 m" }\nexe llm @sound(x) = [\n  let @use = @tools.tide\n  => @use(@x)\n]\nshow @sound("4 m")\n';
const PASSED = 'exe @tide(x) = `at @x`\nexe llm @sound(use, x) = [\n  => @use(@x)\n]\nshow @sound(@tide, "4 m")\n';

describe('a result of a function', () => {
  it.each([
    ['a module that it uses under a name', MODULE, MODULE, '@at'],
    ['a member of an object', MEMBER, MEMBER.replace('at @x', 'by @x'), '@tide'],
    ['a function that it gets as an argument', PASSED, PASSED.replace('at @x', 'by @x'), '@tide'],
  ])('is from before an edit of %s', async (_, before, now, changed) => {
    const cwd = await projectFolder({ 'job.mld': before, 'depths.mld': DEPTHS });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    await fs.writeFile(path.join(cwd, 'job.mld'), now);
    await fs.writeFile(path.join(cwd, 'depths.mld'), DEPTHS.replace('at @x', 'by @x'));
    const reused = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(reused.stdout).toBe('at 4 m\n');
    expect(withoutSummary(reused.stderr)).toContain(`edited (${changed} was edited)`);
    expect((await callCli(['job.mld', '--changed', 'ask'], { cwd })).stdout).toBe('by 4 m\n');
  });

  it('that another function of the same name had made is called so, until one of them is edited', async () => {
    const module = (word: string): string => `exe llm @sound(x) = \`${word} @x\`\nexport { @sound }\n`;
    const cwd = await projectFolder({
      'job.mld': 'import "./a.mld" as @a\nimport "./b.mld" as @b\nshow @a.sound("1")\nshow @b.sound("1")\n',
      'a.mld': module('at'),
      'b.mld': module('by'),
    });
    const shared = '@sound: 1 result reused that another @sound of this run had made with the same arguments; give each function a name';
    for (const _ of ['executed', 'reused']) {
      const { stdout, stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
      expect(stdout).toBe('at 1\nat 1\n');
      expect(stderr).toContain(shared);
      expect(stderr).not.toContain('edited');
    }
    await fs.writeFile(path.join(cwd, 'a.mld'), module('from'));
    const { stderr } = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(stderr).toContain('@sound: 2 results reused from before its body was edited; --resume @sound');
  });

  it('is not from before an edit of another function of the module', async () => {
    const cwd = await projectFolder({ 'job.mld': MODULE, 'depths.mld': DEPTHS });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    await fs.writeFile(path.join(cwd, 'depths.mld'), DEPTHS.replace('not used', 'never used'));
    const { stdout, stderr } = await callCli(['job.mld', '--changed', 'ask'], { cwd });
    expect([stdout, stderr]).toEqual(['at 4 m\n', expect.stringContaining('1 reused')]);
  });
});

const DEPTHS = 'exe @at(x) = `at @x`\nexe @other(x) = `not used`\nexport { @at, @other }\n';

describe('a result of code', () => {
  it.each([
    ['a variable that the code lists', LISTED, LISTED.replace('4 m', '5 m'), '@depth was 4 m, is 5 m', 'at 5 m'],
    ['a function that the code is given', GIVEN, GIVEN.replace(' m', ' ft'), '@unit was edited', 'at 4 ft'],
    [
      'a function that the code of `var llm` is given',
      'exe @unit(n) = js { return n + " m" }\nexe js = { unit }\nvar llm @sound = js { return "at " + unit(4) }\nshow @sound\n',
      'exe @unit(n) = js { return n + " ft" }\nexe js = { unit }\nvar llm @sound = js { return "at " + unit(4) }\nshow @sound\n',
      '@unit was edited',
      'at 4 ft',
    ],
  ])('is from before an edit of %s', async (_, before, now, change, fresh) => {
    const cwd = await projectFolder({ 'job.mld': before });
    await callCli(['job.mld', '--checkpoint'], { cwd });
    await fs.writeFile(path.join(cwd, 'job.mld'), now);
    const reused = await callCli(['job.mld', '--checkpoint'], { cwd });
    expect(reused.stdout).toBe('at 4 m\n');
    expect(withoutSummary(reused.stderr)).toContain(`1 result reused from before its definition was edited (${change}); --resume @`);
    expect((await callCli(['job.mld', '--changed', 'ask'], { cwd })).stdout).toBe(`${fresh}\n`);
  });

  it.each([LISTED, GIVEN, MEMBER])(
    'of an older program, which did not record what code or a member has, is reused without a word',
    async (script) => {
      const recorded = await projectFolder({ 'job.mld': script });
      await callCli(['job.mld', '--checkpoint'], { cwd: recorded });
      const store = openFileStore(recorded);
      const [{ ref } = { ref: undefined }] = await store.runs(workflowOf('job.mld'));
      const facts: Fact[] = [];
      await store.scan(ref as RunRef, (event) => {
        const { v: _, seq: __, ts: ___, hash: ____, ...fact } = event;
        facts.push(asOlder(fact as Fact));
      });
      const cwd = await projectFolder({ 'job.mld': script });
      const older = await openFileStore(cwd).create(ref as RunRef);
      for (const fact of facts) await older.append(fact);
      await older.close();
      for (const argv of [['--changed', 'ask'], ['--checkpoint']]) {
        const { stdout, stderr } = await callCli(['job.mld', ...argv], { cwd });
        expect([stdout, withoutSummary(stderr), stderr]).toEqual(['at 4 m\n', '', expect.stringContaining('1 reused')]);
      }
      expect((await callCli(['job.mld', '--plan', '--changed', 'ask'], { cwd })).stdout).not.toContain('edited');
    },
  );
});

/** The fingerprint was another one then, because it is made of the parts. */
function asOlder(fact: Fact): Fact {
  if (fact.type === 'call.started' || fact.type === 'call.completed')
    return { ...fact, ...('fingerprint' in fact && { fingerprint: 'older' }) } as Fact;
  if (fact.type !== 'definition.recorded') return fact;
  const { code, parts, ...more } = fact;
  expect([code, parts.at(-1)?.inCode]).toEqual([true, true]);
  return { ...more, parts: parts.filter(({ inCode }) => !inCode), fingerprint: 'older' as typeof fact.fingerprint };
}
