/** Text of a journal stays in its line and its element, whoever wrote it. */
import { expect, it } from 'vitest';
import { renderEntries } from '../../../cli/render/reports/checkpoint.js';
import { beginDocument } from '../../../src/api/reports/html-document.js';

it('lists a result in a line, whatever its function is called', () => {
  const entry = { fn: 'ask\nTotal: 0', preview: 'ebb' } as never;
  expect(renderEntries([entry], { script: 'job', name: 'job' }).trimEnd().split('\n')).toHaveLength(3);
});

it('has no control character and no element in the title of a page', () => {
  const page = beginDocument('a\u001b]0;x\u0007\nb</title><script>', { viewer: '', style: '' });
  expect(/<title>(.*?)<\/title>/s.exec(page)?.[1]).toBe('a ]0;x b&lt;/title>&lt;script>');
});
