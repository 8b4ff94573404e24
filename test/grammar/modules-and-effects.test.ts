import { describe, expect, it } from 'vitest';
import { parseScript } from '../../grammar/parse.js';
import { outline } from './outline.js';

const table: [source: string, tree: string][] = [
  [
    'import { a, @b as @c } from @root/lib/x.mld',
    'import{source:path{path:[hole{value:@root} "/lib/x.mld"]} names:[{name:a} {name:b alias:c}]}',
  ],
  ['import templates from "./p" as @t(a, b)', 'import{type:templates source:path{path:["./p"]} alias:t params:[{name:a} {name:b}]}'],
  ['import { * as @n } from "./@d/x.mld"', 'import{source:path{path:["./" hole{value:@d} "/x.mld"]} alias:n}'],
  ['import "@cfg" as @c', 'import{source:provided{name:@cfg} alias:c}'],
  ['import { x } from @app/cfg', 'import{source:provided{name:@app/cfg} names:[{name:x}]}'],
  ['import { URL } from node @node:url', 'import{source:node{package:node:url} names:[{name:URL}]}'],
  ['import static <./x.mld> as @x', 'import{type:static source:path{path:["./x.mld"]} alias:x}'],
  ['import @input as @in', 'import{source:provided{name:@input} alias:in}'],
  ['import "./crew" as @every with { skipDirs: [] }', 'import{source:path{path:["./crew"]} alias:every skipDirs:array{}}'],
  ['import cached(1h) { @v } from "m.mld"', 'import{type:cached source:path{path:["m.mld"]} names:[{name:v}]}'],
  ['export { @a, b, * }', 'export{names:[{name:a} {name:b} {name:*}]}'],
  ['export { }', 'export{}'],
  ['needs { sh, cmd: [git, "jq"], }', 'needs{entries:[{name:sh} {name:cmd value:list{items:[word{text:"git"} word{text:"jq"}]}}]}'],
  [
    '/needs {\n  node: { @a/b: ">=1" } >> why\n  py: numpy>=1.20 # and\n  network\n}',
    'needs{entries:[{name:node value:map{entries:[{name:@a/b value:word{text:">=1"}}]}} {name:py value:word{text:"numpy>=1.20"}} {name:network}]}',
  ],
  ['needs {}', 'needs{}'],
  ['show <a.md> | @up', 'show{value:pipeline{source:load{path:["a.md"]} stages:[call-stage{name:up called:false}]}}'],
  ["show 'x'", 'show{value:"x"}'],
  ['log @a + 1', 'log{value:binary{operator:+ left:@a right:1}}'],
  ['output @x to "f@y\\.txt" as yaml', 'output{value:@x target:file{path:["f" hole{value:@y} ".txt"]} format:yaml}'],
  ['output {"n": 1} to "state://a.@b"', 'output{value:object{entries:[{key:"n" value:1}]} target:state{path:["a." hole{value:@b}]}}'],
  ['output to out/x.txt', 'output{target:file{path:["out/x.txt"]}}'],
  ['output @f(1) to env:NAME', 'output{value:@fapply{args:[1]} target:env{name:NAME}}'],
  ['output "legacy.txt"', 'output{target:file{path:["legacy.txt"]}}'],
  ['append `x` to "o.jsonl" as jsonl', 'append{value:template{quote:backtick parts:["x"]} target:file{path:["o.jsonl"]} format:jsonl}'],
  ['file notes/a.md = @b', 'file{path:["notes/a.md"] value:@b}'],
  ['file "a/@b" = { a: 1 }', 'file{path:["a/" hole{value:@b}] value:object{entries:[{key:"a" value:1}]}}'],
  [
    'files "src/" = [ { "a.js": @a, desc: "e" } ]',
    'files{path:["src/"] value:array{elements:[{value:object{entries:[{key:"a.js" value:@a} {key:"desc" value:template{quote:double parts:["e"]}}]}}]}}',
  ],
];

describe('modules and effects', () => {
  it.each(table)('%s', (source, tree) => {
    expect(parseScript(source, { mode: 'strict' }).statements.map(outline).join(' ')).toBe(tree);
  });
});
