import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  [
    'var @a = "b" | @trim | @o.f("x") | { k: 1 }',
    'var{name:a value:pipeline{source:template{quote:double parts:["b"]} stages:[call-stage{name:trim called:false} call-stage{name:o path:[f] args:[template{quote:double parts:["x"]}] called:true} data-stage{value:object{entries:[{key:"k" value:1}]}}]}}',
  ],
  [
    'var @l = ["pear"]\n  | @sort',
    'var{name:l value:pipeline{source:array{elements:[{value:template{quote:double parts:["pear"]}}]} stages:[call-stage{name:sort called:false}]}}',
  ],
  [
    'var @a = @s() | @b || @c (2, 5ms) | @d',
    'var{name:a value:pipeline{source:@sapply{} stages:[group-stage{members:[call-stage{name:b called:false} call-stage{name:c called:false}] limits:{cap:2 pace:5}} call-stage{name:d called:false}]}}',
  ],
  [
    'var @a = || @b() || @c(1) | @d',
    'var{name:a value:leading-group{group:group-stage{members:[call-stage{name:b called:true} call-stage{name:c args:[1] called:true}]} stages:[call-stage{name:d called:false}]}}',
  ],
  [
    'run || @b() || @c()',
    'run{value:leading-group{group:group-stage{members:[call-stage{name:b called:true} call-stage{name:c called:true}]}}}',
  ],
  [
    'var @a = @s() | || @b || @c | @d',
    'var{name:a value:pipeline{source:@sapply{} stages:[group-stage{members:[call-stage{name:b called:false} call-stage{name:c called:false}]} call-stage{name:d called:false}]}}',
  ],
  [
    'var @a = stream @b() || stream @c(1) | @d',
    'var{name:a value:pipeline{source:stream{value:leading-group{group:group-stage{members:[call-stage{name:b called:true} call-stage{name:c args:[1] called:true}]}}} stages:[call-stage{name:d called:false}]}}',
  ],
  [
    'var @a = @b with { pipeline: [show, @c, append "l"] }',
    'var{name:a value:pipeline{source:@b stages:[effect-stage{effect:show} call-stage{name:c called:false} effect-stage{effect:append target:file{path:["l"]}}]}}',
  ],
  [
    'run cmd (@b):/ { ls }\nrun sh(@b, c):@d { ls }',
    'run{value:code{language:cmd text:[" ls "] directory:["/"] variables:[b]}} run{value:code{language:sh text:[" ls "] directory:[hole{value:@d}] variables:[b c]}}',
  ],
  [
    'var @a = 0 | while(10, 1m) @o.f',
    'var{name:a value:pipeline{source:0 stages:[while-stage{cap:10 pace:60000 call:call-stage{name:o path:[f] called:false}}]}}',
  ],
  [
    'var @a = @b | log | show "x" | log @c.d | output to "f" as json | output @q to stderr | append "g" | append "h" to `i`',
    'var{name:a value:pipeline{source:@b stages:[effect-stage{effect:log} effect-stage{effect:show value:template{quote:double parts:["x"]}} effect-stage{effect:log value:@cfield{name:d}} effect-stage{effect:output target:file{path:["f"]} format:json} effect-stage{effect:output value:@q target:stderr{}} effect-stage{effect:append target:file{path:["g"]}} effect-stage{effect:append value:template{quote:double parts:["h"]} target:file{path:["i"]}}]}}',
  ],
  [
    'var @a = @b with { pipeline: [@c, [@d, @e(1)]], parallel: 2, delay: 1s }',
    'var{name:a value:pipeline{source:@b stages:[call-stage{name:c called:false} group-stage{members:[call-stage{name:d called:false} call-stage{name:e args:[1] called:true}] limits:{cap:2 pace:1000}}]}}',
  ],
  [
    'show @f("1") with { guards: { only: ["@b"] } }',
    'show{value:with{value:@fapply{args:[template{quote:double parts:["1"]}]} options:[{name:guards value:object{entries:[{key:"only" value:array{elements:[{value:template{quote:double parts:[hole{value:@b}]}}]}}]}}]}}',
  ],
  [
    'show foreach @f(@l) with { separator: " | " }',
    'show{value:with{value:foreach{call:@fapply{args:[@l]}} options:[{name:separator value:template{quote:double parts:[" | "]}}]}}',
  ],
  [
    'var @a = @t | cmd { sort } | cmd { head }',
    'var{name:a value:pipeline{source:code{language:cmd text:[" sort "] stdin:@t} stages:[command-stage{code:code{language:cmd text:[" head "]}}]}}',
  ],
  [
    "run @t | { wc -l | tr -d ' ' } | @up",
    'run{value:pipeline{source:code{language:cmd text:[" wc -l | tr -d \' \' "] stdin:@t isRun:true} stages:[call-stage{name:up called:false}]}}',
  ],
  [
    'run cmd {printf \'b\\n @x\' "@a.b $HOME \\"" | @f(1) \\@home a@c $(date; echo "@d") ${E} {x}}',
    'run{value:code{language:cmd text:["printf \'b\\\\n @x\' \\"" hole{value:@afield{name:b} quoting:double} " $HOME \\\\\\"\\" | " hole{value:@fapply{args:[1]} quoting:bare} " @home a" hole{value:@c quoting:bare} " $(date; echo \\"" hole{value:@d quoting:double} "\\") ${E} {x}"]}}',
  ],
  [
    'run "echo \'@x\' \\"@y\\" @z"',
    'run{value:code{language:cmd text:["echo \'@x\' \\"" hole{value:@y quoting:double} "\\" " hole{value:@z quoting:bare}]}}',
  ],
  [
    'run cmd:@root/sub { ls } with { stdin: @s }',
    'run{value:code{language:cmd text:[" ls "] directory:[hole{value:@root} "/sub"] stdin:@s}}',
  ],
  ['run { ls }', 'run{value:code{language:cmd text:[" ls "]}}'],
  [
    'exe @a(v) = run @v | { cat } | @up',
    'exe{name:a params:[{name:v}] body:pipeline{source:code{language:cmd text:[" cat "] stdin:@v isRun:true} stages:[call-stage{name:up called:false}]}}',
  ],
  ['run stream @f(@x)', 'run{value:stream{value:@fapply{args:[@x]}}}'],
  [
    'exe @a(x) = js (@x) {\nreturn `a ${x + "}"} }` + /[}]/.test(\'}\') /* } */ // }\n}',
    'exe{name:a params:[{name:x}] body:code{language:js text:["\\nreturn `a ${x + \\"}\\"} }` + /[}]/.test(\'}\') /* } */ // }\\n"] variables:[x]}}',
  ],
  [
    'exe @a(x) = sh {\necho "$(echo "}")" \'}\' \\} # }\ncat <<EOF\n}\nEOF\n}',
    'exe{name:a params:[{name:x}] body:code{language:sh text:["\\necho \\"$(echo \\"}\\")\\" \'}\' \\\\} # }\\ncat <<EOF\\n}\\nEOF\\n"]}}',
  ],
  [
    'exe @a(x) = python:/tmp {\ns = """}""" # }\nprint(s) }',
    'exe{name:a params:[{name:x}] body:code{language:py text:["\\ns = \\"\\"\\"}\\"\\"\\" # }\\nprint(s) "] directory:["/tmp"]}}',
  ],
  [
    'exe @a() = node { return 1 / 2 / 3 } | @up',
    'exe{name:a body:pipeline{source:code{language:node text:[" return 1 / 2 / 3 "]} stages:[call-stage{name:up called:false}]}}',
  ],
  ['stream @f(1)', 'call{value:stream{value:@fapply{args:[1]}}}'],
  ['@f(1).g() | @h', 'call{value:pipeline{source:@fapply{args:[1]}method{name:g} stages:[call-stage{name:h called:false}]}}'],
  ['exe @a() = stream bash { x }', 'exe{name:a body:stream{value:code{language:bash text:[" x "]}}}'],
  ['run sh { ls # all }', 'run{value:code{language:sh text:[" ls # all "]}}'],
];

describe('pipelines and code', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'strict' }).statements.map(outline).join(' ')).toBe(tree);
  });
});
