/** Other names of what scripts find without declaring it. values.md 2.6, 12 and 13. */
import { expect, it } from 'vitest';
import { runScript } from '../support/in-fake-world.js';

it.each([
  ['---\ntitle: Tides\n---\nshow `@frontmatter.title @fm.title`\nshow @frontmatter.title', 'Tides Tides\nTides\n'],
  ['---\ntitle: Tides\n---\nvar @frontmatter = "mine"\nshow @frontmatter', 'mine\n'],
  [
    'var @o = {"here": "a.txt", "gone": "b.txt"}\nshow `@FILEEXISTS(@o.here) @fileExists(@o.gone) @EXISTS(@o.gone) @EXISTS("b.txt")`',
    'true false true false\n',
  ],
  [
    'var secret @s = "b.txt"\nvar @here = "a.txt" | @fileExists\nvar @gone = @s | @FILEEXISTS\nshow `@here @gone @gone.mx.labels`',
    'true false ["secret"]\n',
  ],
  ['exe @FILEEXISTS(x) = "mine"\nshow @FILEEXISTS("b.txt")', 'mine\n'],
])('%s', async (script, expected) => {
  const { shown, error } = await runScript(script, { files: { '/p/a.txt': 'x' } });
  expect([shown, error]).toEqual([expected, undefined]);
});
