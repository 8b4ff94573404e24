import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  [
    '# Title @x {{y}}\n/var @x = 1\n/etc/hosts is a path\n>> gone\n  >> gone\na >> stays\n/show `a\nb` >> remark\n/@f(1)\ntail',
    'prose{text:"# Title @x {{y}}\\n"} var{name:x value:1} prose{text:"/etc/hosts is a path\\na >> stays\\n"} show{value:template{quote:backtick parts:["a\\nb"]}} call{value:@fapply{args:[1]}} prose{text:"tail"}',
  ],
  ['```js\n/show "x"\n```\n````\n```\n````\nrest', 'prose{text:"```js\\n/show \\"x\\"\\n```\\n````\\n```\\n````\\nrest"}'],
  [
    'before\n```mlld-run\nshow @x\n\nvar @y = 2\n```\nafter',
    'prose{text:"before\\n"} fence{statements:[show{value:@x} var{name:y value:2}]} prose{text:"after"}',
  ],
  ['---\ntitle: x\n---\n\ntext', 'prose{text:"\\ntext"}'],
  [
    '/show @x\n\n| a | b |\n|---|---|\n/show @y\n  | @up\n> quote',
    'show{value:@x} prose{text:"\\n| a | b |\\n|---|---|\\n"} show{value:pipeline{source:@y stages:[call-stage{name:up called:false}]}} prose{text:"> quote"}',
  ],
  [
    '/if @x [\n  show "a"\n] else [\n  show "b"\n]',
    'if{condition:@x then:block{statements:[show{value:template{quote:double parts:["a"]}}]} otherwise:block{statements:[show{value:template{quote:double parts:["b"]}}]}}',
  ],
];

describe('Markdown mode', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'markdown' }).statements.map(outline).join(' ')).toBe(tree);
  });
});
