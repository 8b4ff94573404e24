/** A parameter without an argument takes the caller's local. control.md 4. */
import { expect, it } from 'vitest';
import { runScript } from '../../support/in-fake-world.js';

const TEMPLATE = 'exe @card(name, role) = `@name is @role`\n';

it.each([
  ['exe @f(role) = [ => @card("Ann") ]\nshow @f("mate")', 'Ann is mate\n', ['@role is taken']],
  ['for @role in ["cook", "mate"] [ show @card("Bo") ]', 'Bo is cook\nBo is mate\n', ['@role is taken']],
  ['exe @f() = [\nlet @role = "pilot"\nlet @name = "Cy"\n=> @card()\n]\nshow @f()', 'Cy is pilot\n', ['@name and @role are taken']],
  ['var @role = "of the module"\nshow @card("Di")', 'Di is @role\n', []],
  ['exe @f(role) = [ => @card("Ed", "own") ]\nshow @f("mate")', 'Ed is own\n', []],
  ['exe @f(role) = [ => "Flo" | @card ]\nshow @f("mate")', 'Flo is \n', []],
  ['exe @f(other) = [ => @card("Gus") ]\nshow @f("mate")', 'Gus is @role\n', []],
  [
    'exe @c2(name, role) = when [ @role => `@name has @role`; * => "none" ]\nexe @f(role) = @c2("Hal")\nshow @f("mate")',
    'Hal has mate\n',
    ['@role is'],
  ],
  ['exe @c2(name, role) = template "./card.att"\nexe @f(role) = [ => @c2("Ida") ]\nshow @f("mate")', 'Ida/mate\n', ['@role is']],
])('%s', async (script, expected, warnings) => {
  const result = await runScript(TEMPLATE + script, { files: { '/p/card.att': '@name/@role' } });
  expect([result.shown, result.error]).toEqual([expected, undefined]);
  expect(result.warnings).toHaveLength(warnings.length);
  warnings.forEach((warning, i) => expect(result.warnings[i]).toContain(warning));
});

it('names the numbers and the place', async () => {
  const { warnings } = await runScript(`${TEMPLATE}exe @f(role) = [ => @card("Ann") ]\nshow @f("mate")`);
  expect(warnings).toEqual(['@card takes 2 arguments and got 1; @role is taken from the caller (main.mld:2:26)']);
});
