import { describe, expect, it } from 'vitest';
import { parseScript, parseTemplateFile } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  [
    'show "a @b. @c.d[0]x @@e \\@f @ g"',
    'show{value:template{quote:double parts:["a " hole{value:@b} ". " hole{value:@cfield{name:d}index{index:0}} "x @e @f @ g"]}}',
  ],
  [
    'show "@stem\\.json @a\\_b @x\\@y @x\\\\ \\q\\n"',
    'show{value:template{quote:double parts:[hole{value:@stem} ".json " hole{value:@a} "_b " hole{value:@x} "@y " hole{value:@x} "\\\\ \\\\q\\n"]}}',
  ],
  [
    'show `@f(1, "a").trim() @x|@upper|@a.b | @c`',
    'show{value:template{quote:backtick parts:[hole{value:@fapply{args:[1 template{quote:double parts:["a"]}]}method{name:trim}} " " hole{value:@x pipes:[call-stage{name:upper called:false} call-stage{name:a path:[b] called:false}]} " | " hole{value:@c}]}}',
  ],
  [
    'show `@a? @b?`part @c`@d??"n" !@e ! @f @g ?`',
    'show{value:template{quote:backtick parts:[hole{value:@a optional:true} " " hole{value:@b then:["part " hole{value:@c}]} hole{value:@d fallback:"n"} " " hole{value:@e negated:true} " ! " hole{value:@f} " " hole{value:@g} " ?"]}}',
  ],
  ['show "Dear@tag?" (@tag)"!"', 'show{value:template{quote:double parts:["Dear" hole{value:@tag then:[" (" hole{value:@tag} ")"]} "!"]}}'],
  ['show `a@x?`, @x``', 'show{value:template{quote:backtick parts:["a" hole{value:@x then:[", " hole{value:@x}]}]}}'],
  ['show "a@x?"; to @x" b"', 'show{value:template{quote:double parts:["a" hole{value:@x then:["; to " hole{value:@x}]} " b"]}}'],
  ['show `a@x?` to @x.`.`', 'show{value:template{quote:backtick parts:["a" hole{value:@x then:[" to " hole{value:@x} "."]} "."]}}'],
  [
    'append `@x?` to `@d/f`',
    'append{value:template{quote:backtick parts:[hole{value:@x optional:true}]} target:file{path:[hole{value:@d} "/f"]}}',
  ],
  [
    'var @a = ["@x?",@y,"b"]',
    'var{name:a value:array{elements:[{value:template{quote:double parts:[hole{value:@x optional:true}]}} {value:@y} {value:template{quote:double parts:["b"]}}]}}',
  ],
  [
    'var @a = ["@x?", "b"]',
    'var{name:a value:array{elements:[{value:template{quote:double parts:[hole{value:@x optional:true}]}} {value:template{quote:double parts:["b"]}}]}}',
  ],
  [
    'show `<b>@x</b> <a href="@x">t</a> <<f.txt>> <<@x>> 1 < 2 <!-- @n.b -->`',
    'show{value:template{quote:backtick parts:["<b>" hole{value:@x} "</b> <a href=\\"@x\\">t</a> <f.txt> <" hole{value:@x} "> 1 < 2 <!-- @n.b -->"]}}',
  ],
  [
    'show `<a href="u\\@e\\.org" b="@@c\\q"> <!-- \\@x -->`',
    'show{value:template{quote:backtick parts:["<a href=\\"u@e.org\\" b=\\"@c\\\\q\\"> <!-- @x -->"]}}',
  ],
  ['show ::<a href="u\\@e\\.org" b="@@c">::', 'show{value:template{quote:colon parts:["<a href=\\"u@e\\\\.org\\" b=\\"@c\\">"]}}'],
  [
    'show `log: <log.txt>|@upper <port.json>.name <@d/*.md>`',
    'show{value:template{quote:backtick parts:["log: " load-part{load:load{path:["log.txt"]} pipes:[call-stage{name:upper called:false}]} " " load-part{load:load{path:["port.json"]} steps:[field{name:name}]} " " load-part{load:load{path:[hole{value:@d} "/*.md"]}}]}}',
  ],
  ['show "no <file.txt>"', 'show{value:template{quote:double parts:["no <file.txt>"]}}'],
  [
    'show `list:\n/for @l in @lines\n  line @l.no\n/for @i, @s in [1]\n@i\n/end\n/end\nend /for /end`',
    'show{value:template{quote:backtick parts:["list:\\n" loop-part{name:l source:@lines body:["line " hole{value:@lfield{name:no}} "\\n" loop-part{key:"i" name:s source:array{elements:[{value:1}]} body:[hole{value:@i} "\\n"]} "\\n"]} "\\nend /for /end"]}}',
  ],
  [
    'show ::\n\nx @y `t` \\n \\@z :a <f.x>\n::',
    'show{value:template{quote:colon parts:["\\nx " hole{value:@y} " `t` \\\\n @z :a " load-part{load:load{path:["f.x"]}}]}}',
  ],
  ['show :::\n@a {{ b.c }} {d} \\t\n:::', 'show{value:template{quote:triple parts:["@a " hole{value:@bfield{name:c}} " {d} \\t"]}}'],
  ['show `\nx\n`', 'show{value:template{quote:backtick parts:["\\nx\\n"]}}'],
];

describe('references in text', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'strict' }).statements.map(outline).join(' ')).toBe(tree);
  });
});

describe('template files', () => {
  const files: [kind: 'att' | 'mtt', source: string, tree: string][] = [
    [
      'att',
      'Name: @name\nMail: crew@@port \\@x\n<foot.txt>\n',
      'template{quote:att parts:["Name: " hole{value:@name} "\\nMail: crew@port @x\\n" load-part{load:load{path:["foot.txt"]}} "\\n"]}',
    ],
    [
      'att',
      'A\n/for @k, @v in @o\n- @k|@upper\n/end\nB',
      'template{quote:att parts:["A\\n" loop-part{key:"k" name:v source:@o body:["- " hole{value:@k pipes:[call-stage{name:upper called:false}]} "\\n"]} "\\nB"]}',
    ],
    [
      'att',
      '@f(1).trim() \\n `x` "y" /for',
      'template{quote:att parts:[hole{value:@fapply{args:[1]}method{name:trim}} " \\\\n `x` \\"y\\" /for"]}',
    ],
    [
      'att',
      '@a\n ````mlld \nshow @a \\@ <b.txt>\n/end\n```\n ````\n@b ```mlld\n@c\n```mlld-run\n@d\n```',
      'template{quote:att parts:[hole{value:@a} "\\n ````mlld \\nshow @a \\\\@ <b.txt>\\n/end\\n```\\n ````\\n" hole{value:@b} " ```mlld\\n" hole{value:@c} "\\n```mlld-run\\n" hole{value:@d} "\\n```"]}',
    ],
    ['att', '~~~mlld\n@a', 'template{quote:att parts:["~~~mlld\\n@a"]}'],
    [
      'mtt',
      'Open @src/a.ts for {{ names.a }} <b.txt> {x}\n',
      'template{quote:mtt parts:["Open @src/a.ts for " hole{value:@namesfield{name:a}} " <b.txt> {x}\\n"]}',
    ],
  ];

  it.each(files)('.%s: %s', (kind, source, tree) => {
    expect(outline(parseTemplateFile(source, kind))).toBe(tree);
  });

  it('report a loop that is not closed, and an end without a loop, at their line', () => {
    expect(() => parseTemplateFile('a\n/for @x in @y\nb', 'att')).toThrow(expect.objectContaining({ at: 2 }));
    expect(() => parseTemplateFile('a\n/end\nb', 'att')).toThrow(expect.objectContaining({ at: 2, message: '`/end` without `/for`' }));
  });
});
