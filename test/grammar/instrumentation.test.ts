import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  [
    'hook @h after @a.b( "pre" ) = [ => @output ] >> c',
    'hook{name:h timing:after filter:function{path:[a b] prefix:"pre"} body:block{statements:[return{value:@output}]}}',
  ],
  [
    'hook before op:for:iteration=[ show "x"; log "y" ]',
    'hook{timing:before filter:operation{name:for:iteration} body:block{statements:[show{value:template{quote:double parts:["x"]}} log{value:template{quote:double parts:["y"]}}]}}',
  ],
  [
    'hook before untrusted = when @x [ 1 => pass ]',
    'hook{timing:before filter:label{label:untrusted} body:when{subject:@x form:match entries:[arm{condition:binary{operator:== left:_ right:1} action:control{word:pass}}]}}',
  ],
  [
    'guard @g before op:net:w = when [\n  let @x = 1\n  @input[0] == "a" => deny "no @x" >> c\n  !denied => retry \'again\'\n  * => allow `1@input[0]`\n]',
    'guard{name:g timing:before filter:operation{name:net:w} rules:[let{name:x value:1} rule{condition:binary{operator:== left:@inputindex{index:0} right:template{quote:double parts:["a"]}} action:deny{text:"no @x"}} rule{condition:unary{operator:! operand:denied{}} action:retry{text:"again"}} rule{condition:any action:allow{value:template{quote:backtick parts:["1" hole{value:@inputindex{index:0}}]}}}]}',
  ],
  [
    'guard privileged always @f.g = when [ * => allow with { addLabels: ["a"] } ]',
    'guard{privileged:true timing:always filter:function{path:[f g]} rules:[rule{condition:any action:allow{options:[{name:addLabels value:array{elements:[{value:template{quote:double parts:["a"]}}]}}]}}]}',
  ],
  ['guard for pii = when [ * => allow ]', 'guard{timing:before filter:label{label:pii} rules:[rule{condition:any action:allow{}}]}'],
  [
    'guard after @g for op:exe = when [ * => allow ]',
    'guard{name:g timing:after filter:operation{name:exe} rules:[rule{condition:any action:allow{}}]}',
  ],
  [
    'guard privileged always for @f.g = when [ * => allow ]',
    'guard{privileged:true timing:always filter:function{path:[f g]} rules:[rule{condition:any action:allow{}}]}',
  ],
  [
    'guard @g for pii = when [ * => allow ]',
    'guard{name:g timing:before filter:label{label:pii} rules:[rule{condition:any action:allow{}}]}',
  ],
  [
    'guard privileged after pii = when [ * => trusted!,!secret,seen @output ]',
    'guard{privileged:true timing:after filter:label{label:pii} rules:[rule{condition:any action:allow{value:@output modifiers:{add:[trusted seen] remove:[untrusted secret]}}}]}',
  ],
  [
    'guard after pii = when [ * => clear! "x" ] with { privileged: true }',
    'guard{privileged:true timing:after filter:label{label:pii} rules:[rule{condition:any action:allow{value:template{quote:double parts:["x"]} modifiers:{remove:all}}}]}',
  ],
  ['guard before for = when [ * => allow ]', 'guard{timing:before filter:label{label:for} rules:[rule{condition:any action:allow{}}]}'],
  ['checkpoint "a"', 'checkpoint{name:template{quote:double parts:["a"]}}'],
  [
    'checkpoint `a @b` with { ttl: 1h, resume: auto, complete: @x > 1 }',
    'checkpoint{name:template{quote:backtick parts:["a " hole{value:@b}]} options:[{name:ttl value:3600000} {name:resume value:"auto"} {name:complete value:binary{operator:> left:@x right:1}}]}',
  ],
  [
    'checkpoint \'a\' with { ttl: "2h", resume: "never" }',
    'checkpoint{name:"a" options:[{name:ttl value:template{quote:double parts:["2h"]}} {name:resume value:template{quote:double parts:["never"]}}]}',
  ],
  ['when @x => checkpoint "c"', 'when{form:inline entries:[arm{condition:@x action:checkpoint{name:template{quote:double parts:["c"]}}}]}'],
  [
    'exe @f() = [ if @x [ checkpoint "d" ] => 1 ]',
    'exe{name:f body:block{statements:[if{condition:@x then:block{statements:[checkpoint{name:template{quote:double parts:["d"]}}]}} return{value:1}]}}',
  ],
];

describe('hooks, guards and checkpoints', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'strict' }).statements.map(outline).join(' ')).toBe(tree);
  });
});
