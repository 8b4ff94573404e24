import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  ['var @a = -2.50', 'var{name:a value:-2.5}'],
  ['var @a = "text"', 'var{name:a value:template{quote:double parts:["text"]}}'],
  ["var @a = 'it\\'s @x @@y'", 'var{name:a value:"it\'s @x @y"}'],
  ['var\n  @b = {\n    "x" :\n      1 }', 'var{name:b value:object{entries:[{key:"x" value:1}]}}'],
  ['var secret , net:w @x? = true', 'var{labels:[secret net:w] name:x value:true}'],
  [
    'var @a = [1, "two", @c?, @o.m?, [null], ]',
    'var{name:a value:array{elements:[{value:1} {value:template{quote:double parts:["two"]}} {value:@c optional:true} {value:@ofield{name:m} optional:true} {value:array{elements:[{value:null}]}}]}}',
  ],
  [
    'var @a = { ...@b, c-d: 1, "home port": @e, \'f\'?: false, g: { } }',
    'var{name:a value:object{entries:[{spread:@b} {key:"c-d" value:1} {key:"home port" value:@e} {key:"f" optional:true value:false} {key:"g" value:object{}}]}}',
  ],
  [
    'var @a = @o.b.7[0]["any"][\'t\'][name][@i.j][-1]',
    'var{name:a value:@ofield{name:b}index{index:7}index{index:0}index{index:"any"}index{index:"t"}index{index:"name"}index{index:@ifield{name:j}}index{index:-1}}',
  ],
  ['var @a = @l[1:2]', 'var{name:a value:@lslice{from:1 to:2}}'],
  ['var @a = @l[:@n]', 'var{name:a value:@lslice{to:@n}}'],
  ['var @a = @l[*].id.join("-")', 'var{name:a value:@leach{}field{name:id}method{name:join args:[template{quote:double parts:["-"]}]}}'],
  ['var @a = @l[?p.x >= 3]', 'var{name:a value:@lfilter{path:[p x] operator:>= value:3}}'],
  ['var @a = @l[?ok]', 'var{name:a value:@lfilter{path:[ok]}}'],
  [
    'var @a = @f(1, @b)[0].c("x").d',
    'var{name:a value:@fapply{args:[1 @b]}index{index:0}method{name:c args:[template{quote:double parts:["x"]}]}field{name:d}}',
  ],
  [
    'show @s.split(",")\n  .join("")',
    'show{value:@smethod{name:split args:[template{quote:double parts:[","]}]}method{name:join args:[template{quote:double}]}}',
  ],
  [
    'var @a = [3, 1].sort().join("-")',
    'var{name:a value:chain{base:array{elements:[{value:3} {value:1}]} steps:[method{name:sort} method{name:join args:[template{quote:double parts:["-"]}]}]}}',
  ],
  [
    'var @a = @s.replace(/a\\/[b]/gi, "x")',
    'var{name:a value:@smethod{name:replace args:[regex{source:a\\/[b] flags:gi} template{quote:double parts:["x"]}]}}',
  ],
  [
    'var @a = 1 + 2 * 3 - 4',
    'var{name:a value:binary{operator:- left:binary{operator:+ left:1 right:binary{operator:* left:2 right:3}} right:4}}',
  ],
  [
    'var @a = @b||@c && !@d ?? 5',
    'var{name:a value:binary{operator:?? left:binary{operator:|| left:@b right:binary{operator:&& left:@c right:unary{operator:! operand:@d}}} right:5}}',
  ],
  [
    'var @a = @b >= 1 == (@c != 2)',
    'var{name:a value:binary{operator:== left:binary{operator:>= left:@b right:1} right:binary{operator:!= left:@c right:2}}}',
  ],
  [
    'var @a = @b ~= ["x"] !~= null',
    'var{name:a value:binary{operator:!~= left:binary{operator:~= left:@b right:array{elements:[{value:template{quote:double parts:["x"]}}]}} right:null}}',
  ],
  ['var @a = @b ? 1 : @c? 2 : 3', 'var{name:a value:ternary{condition:@b then:1 otherwise:ternary{condition:@c then:2 otherwise:3}}}'],
  ['var @a = 1 +\n  2', 'var{name:a value:binary{operator:+ left:1 right:2}}'],
  ['var @a = (\n  @b\n  + 1\n)', 'var{name:a value:binary{operator:+ left:@b right:1}}'],
  ['var @a = @x\n  == 1\n  && @y', 'var{name:a value:binary{operator:&& left:binary{operator:== left:@x right:1} right:@y}}'],
  ['var @a = @x-y - 1', 'var{name:a value:binary{operator:- left:@x-y right:1}}'],
  ['var @a = @o.b? ?? "d"', 'var{name:a value:binary{operator:?? left:@ofield{name:b} right:template{quote:double parts:["d"]}}}'],
  ['var @a = new @URL("u")', 'var{name:a value:new{callee:@URLapply{args:[template{quote:double parts:["u"]}]}}}'],
  [
    'var @a = [ let @b = 1\n  if @b [ => 2 ]\n  => 3 ]',
    'var{name:a value:block{statements:[let{name:b value:1} if{condition:@b then:block{statements:[return{value:2}]}} return{value:3}]}}',
  ],
  ['var @a = <log book.txt>', 'var{name:a value:load{path:["log book.txt"]}}'],
  [
    'var @a = <port.json>.piers[0].id',
    'var{name:a value:chain{base:load{path:["port.json"]} steps:[field{name:piers} index{index:0} field{name:id}]}}',
  ],
  ['var @a = <@dir/@n\\.json>?', 'var{name:a value:load{path:[hole{value:@dir} "/" hole{value:@n} ".json"] optional:true}}'],
  [
    'var @a = <"a#b.md" # Birds, "A; b"?; !# Gulls as "### X">',
    'var{name:a value:load{path:["a#b.md"] section:{include:[{title:["Birds"]} {title:["A; b"] optional:true}] exclude:[{title:["Gulls"]}]} as:template{quote:double parts:["### X"]}}}',
  ],
  ['var @a = <*.md # ##??>', 'var{name:a value:load{path:["*.md"] section:{list:2}}}'],
  [
    'var @a = <*.json> as "- <>.mx.filename (<>)"',
    'var{name:a value:load{path:["*.json"] as:template{quote:double parts:["- " file-text{path:[mx filename]} " (" file-text{} ")"]}}}',
  ],
  [
    'var @a = <f.txt as `@p <>.mx.fm.t: <>`>',
    'var{name:a value:load{path:["f.txt"] as:template{quote:backtick parts:[hole{value:@p} " " file-text{path:[mx fm t]} ": " file-text{}]}}}',
  ],
  [
    'var @a = <who.txt>? ?? "x"',
    'var{name:a value:binary{operator:?? left:load{path:["who.txt"] optional:true} right:template{quote:double parts:["x"]}}}',
  ],
];

describe('values', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'strict' }).statements.map(outline).join(' ')).toBe(tree);
  });
});
