/** Loads whose folder is in the project, and not beside the script. world.md 4 and 19. */
import { expect, it } from 'vitest';
import { analyze } from './support/files-in-memory.js';

const MAIN = 'llm/run/patrol.mld';
const disk = { 'notes/a.md': 'calm', 'llm/run/prompts/one.txt': 'text', 'llm/notes.txt': '' };

async function complaints(source: string): Promise<readonly string[]> {
  const { warnings = [] } = await analyze({ ...disk, [MAIN]: source }, { main: MAIN });
  return warnings.map(({ message, hint, line, column, code }) => `${line}:${column} ${code} ${message} (${hint})`);
}

it.each(['var @notes = <notes/*.md>', 'exe @one(n) = [ => <notes/@n\\.md> ]', 'show `<notes/a.md> and more`'])(
  'says where the folder is: %s',
  async (source) => {
    expect(await complaints(source)).toEqual([
      expect.stringMatching(
        /^1:\d+ folder-of-the-project the folder notes is not beside the script, where this path begins, but in the project \(write <@root\/notes\/…>\)$/,
      ),
    ]);
  },
);

it.each([
  'var @notes = <@root/notes/*.md>',
  'var @one = <prompts/*.txt>',
  'var @none = <out/*.json>?',
  'var @up = <../../notes/*.md>',
  'var @file = <notes.md>',
])('says nothing of %s', async (source) => {
  expect(await complaints(source)).toEqual([]);
});

it('says nothing of a script at the root of the project', async () => {
  expect((await analyze({ ...disk, 'main.mld': 'var @notes = <notes/*.md>' })).warnings).toBeUndefined();
});
