import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  [
    'exe @a(x, @y: string) = `t @x`',
    'exe{name:a params:[{name:x} {name:y type:string}] body:template{quote:backtick parts:["t " hole{value:@x}]}}',
  ],
  ['exe recursive, llm @a = @b', 'exe{labels:[recursive llm] name:a body:@b}'],
  [
    'exe @a() = [ let @x = 1; @x += 2; let @x += 3\n  => @x ] >> done',
    'exe{name:a body:block{statements:[let{name:x value:1} append-to{name:x value:2} append-to{name:x value:3} return{value:@x}]}}',
  ],
  ['exe @a() = { k: 1 }', 'exe{name:a body:object{entries:[{key:"k" value:1}]}}'],
  ['exe @a() = template "./p.att"', 'exe{name:a body:template-file{path:template{quote:double parts:["./p.att"]}}}'],
  [
    'exe @a(s) = cmd { x } | @up with { stdin: @s, description: "d" }',
    'exe{name:a params:[{name:s}] body:pipeline{source:code{language:cmd text:[" x "] stdin:@s} stages:[call-stage{name:up called:false}]} options:[{name:description value:template{quote:double parts:["d"]}}]}',
  ],
  ['exe js = { f, @g }', 'shadow{language:js names:[{name:f} {name:g}]}'],
  [
    'exe @a(x) = when [\n  >> remark\n  let @y = @x\n  @y > 1 && !denied => "a"\n  @x => @f(1) | @g; none => pass\n]',
    'exe{name:a params:[{name:x}] body:when{form:list entries:[let{name:y value:@x} arm{condition:binary{operator:&& left:binary{operator:> left:@y right:1} right:unary{operator:! operand:denied{}}} action:template{quote:double parts:["a"]}} arm{condition:@x action:pipeline{source:@fapply{args:[1]} stages:[call-stage{name:g called:false}]}} arm{condition:none action:control{word:pass}}]}}',
  ],
  ['when @x => show "a"', 'when{form:inline entries:[arm{condition:@x action:show{value:template{quote:double parts:["a"]}}}]}'],
  [
    'when @n [\n  > 1 && < 10 => "a"\n  (0 || !~= 1) => "b"\n  "s" => [1, @x]\n  @v + 1 => [ @f(); => 2 ]\n  * => { a: 1 }\n]',
    'when{subject:@n form:match entries:[arm{condition:binary{operator:&& left:binary{operator:> left:_ right:1} right:binary{operator:< left:_ right:10}} action:template{quote:double parts:["a"]}} arm{condition:binary{operator:|| left:binary{operator:== left:_ right:0} right:binary{operator:!~= left:_ right:1}} action:template{quote:double parts:["b"]}} arm{condition:binary{operator:== left:_ right:template{quote:double parts:["s"]}} action:array{elements:[{value:1} {value:@x}]}} arm{condition:binary{operator:== left:_ right:binary{operator:+ left:@v right:1}} action:block{statements:[call{value:@fapply{}} return{value:2}]}} arm{condition:any action:object{entries:[{key:"a" value:1}]}}]}',
  ],
  [
    'when @n: [ 1 => done @n; 2 => continue (@n + 1); 3 => retry "h"; 4 => skip; 5 => bail ]',
    'when{subject:@n form:match entries:[arm{condition:binary{operator:== left:_ right:1} action:control{word:done value:@n}} arm{condition:binary{operator:== left:_ right:2} action:control{word:continue value:binary{operator:+ left:@n right:1}}} arm{condition:binary{operator:== left:_ right:3} action:control{word:retry value:template{quote:double parts:["h"]}}} arm{condition:binary{operator:== left:_ right:4} action:control{word:skip}} arm{condition:binary{operator:== left:_ right:5} action:bail{}}]}',
  ],
  [
    'var @a = when @n [ 1 => "a"\n  != 2 => "b"\n  >= 3 => "c" ]',
    'var{name:a value:when{subject:@n form:match entries:[arm{condition:binary{operator:== left:_ right:1} action:template{quote:double parts:["a"]}} arm{condition:binary{operator:!= left:_ right:2} action:template{quote:double parts:["b"]}} arm{condition:binary{operator:>= left:_ right:3} action:template{quote:double parts:["c"]}}]}}',
  ],
  ['when first [ @a => var @m = 8 ]', 'when{form:list entries:[arm{condition:@a action:var{name:m value:8}}]}'],
  ['when @a => @b += 1', 'when{form:inline entries:[arm{condition:@a action:append-to{name:b value:1}}]}'],
  [
    'if (@a\n  || @b) [ show @a ] else [ show "b" ]',
    'if{condition:binary{operator:|| left:@a right:@b} then:block{statements:[show{value:@a}]} otherwise:block{statements:[show{value:template{quote:double parts:["b"]}}]}}',
  ],
  [
    'if @a [ => 1 ]\nelse if @b [ => 2 ]',
    'if{condition:@a then:block{statements:[return{value:1}]} otherwise:block{statements:[if{condition:@b then:block{statements:[return{value:2}]}}]}}',
  ],
  ['for @x in [1, 2] => show @x', 'for{name:x source:array{elements:[{value:1} {value:2}]} body:show{value:@x}}'],
  [
    'for @k, @v in @o when @v [ @l += [@k] ]',
    'for{key:"k" name:v source:@o filter:@v body:block{statements:[append-to{name:l value:array{elements:[{value:@k}]}}]}}',
  ],
  [
    'for parallel(3, 1s) @p.name in @l => run sh { echo }',
    'for{parallel:{cap:3 pace:1000} name:p fields:[name] source:@l body:run{value:code{language:sh text:[" echo "]}}}',
  ],
  ['for parallel @x in @l => @f(@x)', 'for{parallel:{} name:x source:@l body:@fapply{args:[@x]}}'],
  ['for 2 parallel @x in @l => @f(@x)', 'for{parallel:{cap:2 isOldForm:true} name:x source:@l body:@fapply{args:[@x]}}'],
  [
    'for (@n, 500ms) parallel @x in @l => @f(@x)',
    'for{parallel:{cap:@n pace:500 isOldForm:true} name:x source:@l body:@fapply{args:[@x]}}',
  ],
  [
    'var @a = for @x in <*.md> when @x > 1 => @x | @up => | @sum',
    'var{name:a value:for{name:x source:load{path:["*.md"]} filter:binary{operator:> left:@x right:1} body:pipeline{source:@x stages:[call-stage{name:up called:false}]} batch:[call-stage{name:sum called:false}]}}',
  ],
  [
    'var @a = for @x in @l when [ @x == 1 => "a"; * => skip ]',
    'var{name:a value:for{name:x source:@l arms:when{form:list entries:[arm{condition:binary{operator:== left:@x right:1} action:template{quote:double parts:["a"]}} arm{condition:any action:control{word:skip}}]}}}',
  ],
  ['var @a = for @x in @l [ => @x ]', 'var{name:a value:for{name:x source:@l body:block{statements:[return{value:@x}]}}}'],
  [
    'var @a = for @x in @l => for @y in @m => when [ @y => @x ]',
    'var{name:a value:for{name:x source:@l body:for{name:y source:@m body:when{form:list entries:[arm{condition:@y action:@x}]}}}}',
  ],
  [
    'var @a = foreach @f(@l, @m) => | @g || @h',
    'var{name:a value:foreach{call:@fapply{args:[@l @m]} batch:[group-stage{members:[call-stage{name:g called:false} call-stage{name:h called:false}]}]}}',
  ],
  ['loop [ done ]', 'loop{body:block{statements:[control{word:done}]}}'],
  [
    'var @a = loop(@n, 2m) until @input >= 3 [ continue @input + 1 ]',
    'var{name:a value:loop{limit:@n pace:120000 until:binary{operator:>= left:@input right:3} body:block{statements:[control{word:continue value:binary{operator:+ left:@input right:1}}]}}}',
  ],
  ['loop(endless) [ skip; done ]', 'loop{body:block{statements:[control{word:skip} control{word:done}]}}'],
  ['bail `no @x`', 'bail{message:template{quote:backtick parts:["no " hole{value:@x}]}}'],
  ['bail\nshow "x"', 'bail{} show{value:template{quote:double parts:["x"]}}'],
  ['=> pii, x @y', 'return{labels:[pii x] value:@y}'],
  ['=> when [ * => 1 ]', 'return{value:when{form:list entries:[arm{condition:any action:1}]}}'],
  [
    'exe @a() = [ show "a" show @b @c() => 1 ]',
    'exe{name:a body:block{statements:[show{value:template{quote:double parts:["a"]}} show{value:@b} call{value:@capply{}} return{value:1}]}}',
  ],
  [
    'when [ @a => show "x" !@b => show @c * => log "y" ]',
    'when{form:list entries:[arm{condition:@a action:show{value:template{quote:double parts:["x"]}}} arm{condition:unary{operator:! operand:@b} action:show{value:@c}} arm{condition:any action:log{value:template{quote:double parts:["y"]}}}]}',
  ],
];

describe('control flow', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'strict' }).statements.map(outline).join(' ')).toBe(tree);
  });
});
