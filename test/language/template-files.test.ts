import { describe, expect, it } from 'vitest';
import type { Executable } from '../../src/runtime/definitions/executable.js';
import { definitionOf } from '../../src/operation/fingerprint.js';
import { dataOf } from '../../src/values/value.js';
import { runScript } from '../support/in-fake-world.js';

const files = {
  '/p/tpl/card.att': 'Name: @name (@role)\nMail: crew@@port\n<foot.txt>',
  '/p/tpl/foot.txt': '-- end',
  '/p/tpl/list.att': 'A\n/for @i in @items\n- @i\n/end\nB',
  '/p/tpl/refer.mtt': 'Open @src/a.ts and <x.md> for {{names}} {{ nope }}\n',
  '/p/tpl/broken.att': 'a\n/end\n',
  '/p/x.txt': 'no template',
  '/p/notices/arrival.att': '@who arrives @day',
  '/p/notices/late-notice.mtt': '{{who}} is late: {{day}}',
  '/p/notices/office/memo.att': 'memo to @who\n/for @c in @mx.copies\n@c\n/end\n',
  '/p/notices/office/list.txt': 'ignored',
  '/p/weather/x.att': '@who sees @weather',
  '/p/clash/a.att': '@who',
  '/p/clash/a.mtt': '{{who}}',
  '/p/empty/readme.md': '@who',
};

async function shows(script: string): Promise<string> {
  const { shown, error } = await runScript(script, { files });
  if (error) throw error;
  return shown;
}

describe('a template file as the body of a function', () => {
  it.each([
    ['exe @card(name, role) = template "./tpl/card.att"\nshow @card("Ann")', 'Name: Ann (@role)\nMail: crew@port\n-- end\n'],
    ['exe @list(items) = template "./tpl/list.att"\nshow @list(["p", "q"])\nshow @list([])', 'A\n- p\n- q\n\nB\nA\n\nB\n'],
    ['exe @refer(names) = template "./tpl/refer.mtt"\nshow @refer(["a", "b"])', 'Open @src/a.ts and <x.md> for ["a","b"] {{ nope }}\n'],
    ['var @role = "bosun"\nexe @card(name) = template "./tpl/card.att"\nshow @card("Bo")', 'Name: Bo (bosun)\nMail: crew@port\n-- end\n'],
    ['var @d = "tpl"\nexe @list(items) = template "./@d/list.att"\nshow @list([])', 'A\n\nB\n'],
  ])('%s', async (script, expected) => {
    expect(await shows(script)).toBe(expected);
  });

  it.each([
    ['exe @t(x) = template "./tpl/lost.att"', 'FILE_NOT_FOUND', 'lost.att'],
    ['exe @t(x) = template "./x.txt"', 'TEMPLATE_EXTENSION', '.att or .mtt'],
    ['exe @t(x) = template "./tpl/broken.att"', 'SYNTAX', ''],
  ])('%s is refused where it is declared', async (script, code, words) => {
    const { error, shown } = await runScript(`${script}\nshow "never"`, { files });
    expect(shown).toBe('');
    expect(error).toMatchObject({ code });
    expect(error?.message).toContain(words);
    expect(error?.location).toBeDefined();
  });

  it('reports a slip in the template at its place in the template', async () => {
    const { error } = await runScript('exe @t(x) = template "./tpl/broken.att"', { files });
    expect(error?.location).toMatchObject({ file: 'tpl/broken.att', at: 2 });
  });
});

describe('the fingerprint of a function with a template file', () => {
  async function fingerprint(text: string, workingDirectory: string): Promise<string> {
    const { module } = await runScript('exe @t(x) = template "./t.att"', { files: { '/p/t.att': text }, workingDirectory });
    return (await definitionOf(dataOf(module.scope.own('t')?.value) as Executable, async (digest) => digest)).fingerprint;
  }

  it('changes with the file, not with the folder that the program was started in', async () => {
    const first = await fingerprint('Ask @x', '/p');
    expect(await fingerprint('Ask @x', '/p/sub')).toBe(first);
    expect(await fingerprint('Asks @x', '/p')).not.toBe(first);
  });
});

describe('a folder of templates', () => {
  it('is a namespace of functions with one signature', async () => {
    const script = `import templates from "./notices" as @n(who, day)
show @n.arrival("Petrel", "Monday")
show @n["late-notice"]("Gull", "Friday")
show @n.office.memo("Ann")
for @k in ["arrival"] => show @n[@k]("Tern", "Sunday")`;
    expect(await shows(script)).toBe('Petrel arrives Monday\nGull is late: Friday\nmemo to Ann\n\nTern arrives Sunday\n');
  });

  it.each([
    ['import templates from "./notices"', 'COLLECTION_SIGNATURE', ['templates']],
    ['import templates from "./notices" as @n', 'COLLECTION_SIGNATURE', ['parameters']],
    ['import templates from "./weather" as @n(who)', 'COLLECTION_VARIABLE', ['weather/x.att', '@weather']],
    ['import templates from "./empty" as @n(who)', 'COLLECTION_EMPTY', ['empty']],
    ['import templates from "./x.txt" as @n(who)', 'COLLECTION_DIRECTORY', ['x.txt']],
    ['import templates from "./clash" as @n(who)', 'COLLECTION_CLASH', ['@a', 'a.mtt']],
    ['import templates from "./notices" as @n(who, day)\nshow @n.nope("x")', 'NOT_EXPORTED', ['nope']],
  ])('%s', async (script, code, words) => {
    const { error } = await runScript(script, { files });
    expect(error).toMatchObject({ code });
    for (const word of words) expect(error?.message).toContain(word);
  });
});
