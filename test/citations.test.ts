/** Comments and documents cite the specification as `control.md 24.2`, and a reader who follows the citation finds that section. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';

import { PROJECT } from './support/source-files.js';

const PAGES = globSync('docs/spec/*.md', { cwd: PROJECT });
const CITING = ['{src,replay,journal,cli,grammar,viewer,bench}/**/*.{ts,tsx,mjs,peggy}', 'test/**/*.ts', 'docs/**/*.md', 'README.md'];

/** `control.md 3`, `control.md 3, 4.1 and 7`, `control.md 3 to 5`. */
const CITATION = /\b([a-z]+(?:-[a-z]+)*\.md) (\d+(?:\.\d+)*(?:(?:, | and | to )\d+(?:\.\d+)*)*)/g;
/** The form that pointed at texts outside of the repository. */
const NAMELESS = /\b(?:Control|Values|World|Instrumentation|Checkpoint|Design|Reference) (?:sections? )?\d/g;

const sections = new Map(PAGES.map((page) => [page.slice('docs/spec/'.length), headingsOf(readFileSync(join(PROJECT, page), 'utf8'))]));

const texts = globSync(CITING, { cwd: PROJECT, ignore: ['grammar/generated/**', 'test/conformance/*/**', 'test/citations.test.ts'] })
  .sort()
  .map((path) => ({ path, text: readFileSync(join(PROJECT, path), 'utf8') }));

it('finds citations to check', () => {
  expect(texts.flatMap(({ text }) => citationsIn(text)).length).toBeGreaterThan(200);
});

it('finds every cited section in the specification', () => {
  const lost = texts.flatMap(({ path, text }) =>
    citationsIn(text)
      .filter(({ page, section }) => sections.has(page) && !sections.get(page)?.has(section))
      .map(({ page, section }) => `${path}: ${page} ${section}`),
  );
  expect(lost.join('\n')).toBe('');
});

it('names the page of every citation', () => {
  const nameless = texts.flatMap(({ path, text }) => [...text.matchAll(NAMELESS)].map(([found]) => `${path}: ${found}`));
  expect(nameless.join('\n')).toBe('');
});

function citationsIn(text: string): { page: string; section: string }[] {
  // A citation may be broken between two lines of a comment.
  const joined = text.replace(/\n\s*(?:\*|\/\/|#) ?/g, ' ');
  return [...joined.matchAll(CITATION)].flatMap(([, page = '', list = '']) =>
    list.split(/, | and | to /).map((section) => ({ page, section })),
  );
}

/** The numbers of the headings `## 24. Title` and `### 24.2 Title`, and of short sections that begin a paragraph: `**7.2 Title**`. */
function headingsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/(?:^#{1,6} |\*\*)(\d+(?:\.\d+)*)\.?(?: |\*\*)/gm)].map(([, number = '']) => number));
}
