import { describe, expect, it } from 'vitest';
import { analyze, errorLines, warningLines } from './support/files-in-memory.js';

type Row = readonly [about: string, source: string, found: readonly string[]];

describe('errors', () => {
  const rows: readonly Row[] = [
    ['nothing', 'var @a = 1\nexe @f(x) = `@x @a`\nshow @f(@a)', []],
    ['a reserved variable', 'var @now = 1', ['1:5 reserved-name']],
    ['a reserved function', 'show "1"\nexe @mx(a) = `@a`', ['2:5 reserved-name']],
    ['a reserved local', 'if true [ let @root = 1\n show @root ]', ['1:15 reserved-name']],
    ['a parameter may be called input', 'exe @f(input) = `@input`', []],
    ['a variable declared twice', 'var @a = 1\nvar @a = 2', ['2:5 declared-twice']],
    ['a variable and a function', 'exe @a() = "1"\nvar @a = 2', ['2:5 declared-twice']],
    ['an import and a variable', 'var @a = 1\nimport { a } from "./x.mld"', ['2:10 declared-twice']],
    ['two imports', 'import { a } from "./x.mld"\nimport { b as @a } from "./y.mld"', ['2:15 declared-twice']],
    ['an import that is a name by itself', 'import "./my-lib.mld"\nvar @my_lib = 1', ['2:5 declared-twice']],
    ['arms of which one is taken', 'var @n = 1\nwhen [\n  @n == 1 => var @m = 1\n  * => var @m = 2\n]\nshow @m', []],
    ['blocks of their own', 'for @i in [1] [ var @a = @i\n show @a ]\nfor @i in [1] [ var @a = @i\n show @a ]', []],
    ['a local bound again', 'exe @f() = [ let @a = 1; let @a = 2; => @a ]', []],
    ['a local like a variable below', 'if true [ let @a = 2\n show @a ]\nvar @a = 1', []],
    ['loop variables hide', 'var @a = 1\nfor @a in [1] => show @a', []],
    ['hooks of one name', 'hook @h before op:exe = [ log "a" ]\nhook @h after op:exe = [ log "b" ]', ['2:1 declared-twice']],
    ['a hook like a variable', 'var @h = 1\nhook @h before op:exe = [ log "a" ]', []],
    [
      'guards of one name',
      'guard @g before op:run = when [ * => allow ]\nguard @g before op:run = when [ * => allow ]',
      ['2:1 declared-twice'],
    ],
    ['a checkpoint in a function', 'exe @f() = [\n  checkpoint "a"\n  => 1\n]', ['2:3 checkpoint-place']],
    ['a checkpoint in a block of an arm', 'when true => [ checkpoint "a" ]', ['1:16 checkpoint-place']],
    [
      'a reserved name of an import',
      'import { a as @now } from "./x.mld"\nimport "./y.mld" as @mx',
      ['1:15 reserved-name', '2:21 reserved-name'],
    ],
    ['a local that is changed', 'exe @f() = [\n  let @a = 1\n  if true [ @a += 1 ]\n  for @x in [1] [ @a += @x ]\n]', []],
    ['what an iteration has for itself', 'for parallel @x in [1] [\n  let @a = 1\n  @a += @x\n]', []],
    [
      'a function that a parallel loop calls',
      'exe @f() = [\n  let @a = 1\n  for @y in [1] [ @a += @y ]\n]\nfor parallel @x in [1] [ @f() ]',
      [],
    ],
    ['a text that is called', 'var @x = `a`\nshow @x()\nvar @y = "1" | @x\nvar @z = foreach @x([1])', ['2:6 not-a-function', '3:16 not-a-function', '4:18 not-a-function']], // prettier-ignore
    ['other plain values that are called', 'var @a = [1]\nvar @b = { f: 1 }\nvar @c = null\nvar @d = [ => @a(@b(), @c()) ]', ['4:15 not-a-function', '4:18 not-a-function', '4:24 not-a-function']], // prettier-ignore
    ['an immutable name of a block that is changed', 'var @d = [\n  var @a = 1\n  @a += 1\n  => @a\n]', ['3:3 unchangeable']],
    ['a condition that calls a text', 'var @a = "a"\nif @a() [ show "1" ]\nwhen [ @a() => show "1" ]\nfor @x in @a() [ show @x ]', ['2:4 not-a-function', '3:8 not-a-function', '4:11 not-a-function']], // prettier-ignore
    ['values that may be functions', 'exe @g() = "g"\nvar @f = @g\nvar @o = { f: @g }\nshow `@f() @o.f() @o.f.trim()`', []],
    ['a name that is bound again', 'exe @g() = "g"\nexe @f() = [\n  let @a = 1\n  let @a = @g\n  => @a()\n]', []],
    ['a parameter of the same name', 'var @a = 1\nexe @f(a) = [ => @a() ]', []],
    ['recursion with the label', 'exe recursive @f(n) = [ => @f(@n) ]', []],
    ['a parameter like the function', 'exe @f(f) = [ => @f(1) ]', []],
    ['a function that is handed on', 'exe @g(h) = [ => @h(1) ]\nexe @f(n) = [ => @g(@f) ]', []],
    ['checkpoints of one name', 'checkpoint "a"\ncheckpoint "b"\ncheckpoint \' a\'', ['3:1 checkpoint-twice']],
    ['checkpoints in branches', 'when [\n  true => checkpoint "a"\n  * => checkpoint "a"\n]', ['3:8 checkpoint-twice']],
    ['checkpoints with variables', 'var @p = "a"\ncheckpoint "@p"\ncheckpoint "@p"', []],
    ['a template of another kind', 'exe @f(a) = template "./f.txt"', ['1:22 import-form']],
    ['an imported template', 'import "./f.att" as @f', ['1:8 import-form']],
    ['a collection without parameters', 'import templates from "./t" as @t', ['1:1 import-form']],
    ['a let in a when that is a value', 'var @n = 1\nvar @a = when [ true => [\n  let @n = 2\n  => @n\n] ]\nshow @a', []],
    ['code that does not compile', 'exe @f(t) = js {\n  const x = t\n  return x +;\n}', ['3:13 code-syntax']],
    ['a bracket of code that is not closed', 'exe @f(t) = node {\n  return t.map((x) => x\n}', ['2:15 code-syntax']],
    ['a parameter declared again in code', 'exe @f(t) = js { const t = 1 }', ['1:24 code-syntax']],
    ['a listed variable declared again in code', 'var @t = 1\nexe @f(x) = js (@t) { const x = 1; const t = 2 }', ['2:42 code-syntax']],
    ['code in a block, of a variable and of a run', 'if true [\n  let @a = js { return ( }\n]\nvar @b = node { 1 1 }\nrun js { if }', ['2:24 code-syntax', '4:19 code-syntax', '5:13 code-syntax']], // prettier-ignore
    ['an at sign in code', 'exe @f(t) = js { return @t }', ['1:25 code-syntax']],
    [
      'an object as code, and what only a function may hold',
      'exe @f(t) = js { { a: 1, b: t }; }\nexe @g(t) = js { return new.target ?? await t }',
      [],
    ],
    ['code of a parameter whose name is no name there', 'exe @f(class, my-t) = js { return 1 }', []],
    ['code of a function that others call, with a name that is a word in others', 'exe @f(t) = js { var await = t; return await }', []],
    ['code of other languages', 'exe @f(t) = py { return ( }\nexe @g(t) = sh { echo "(" }', []],
    ['an import type for addresses', 'import cached(1h) "./x.mld" as @x', ['1:1 import-form']],
  ];
  it.each(rows)('%s', async (_about, source, found) => {
    const report = await analyze(source);
    expect(errorLines(report)).toEqual(found);
    expect(report.valid).toBe(found.length === 0);
  });

  it('shows the line of code with a caret, and says how code reads names', async () => {
    const { errors } = await analyze('exe @f(t) = js {\n  const a = 1\n  return a + @t\n}');
    expect(errors).toEqual([
      {
        code: 'code-syntax',
        message: 'this `js` code does not compile: Invalid or unexpected token',
        hint: 'in code a name has no at sign: write `t` for a parameter, or list a variable: `js (@t) { … }`',
        excerpt: '2 |   const a = 1\n3 |   return a + @t\n  |              ^',
        line: 3,
        column: 14,
      },
    ]);
  });

  it('names the line of the first declaration', async () => {
    const { errors } = await analyze('var @a = 1\n\nvar @a = 2');
    expect(errors).toEqual([
      {
        line: 3,
        column: 5,
        code: 'declared-twice',
        message: '@a is already declared in line 1',
        hint: 'names are declared once; choose another name',
      },
    ]);
  });
});

describe('mistakes that a run may never reach are warnings', () => {
  it.each<Row>([
    [
      'an immutable local that is changed',
      'exe @f() = [\n  var @a = 1\n  @a += 1\n  let @a += 1\n]',
      ['3:3 unchangeable', '4:7 unchangeable'],
    ],
    [
      'what surrounds a parallel loop',
      'exe @f() = [\n  let @a = 1\n  for parallel @x in [1] [ if true [ @a += @x ] ]\n]',
      ['3:38 unchangeable'],
    ],
    ['a variable of the file in a parallel loop', 'var @a = 1\nfor parallel(2) @x in [1] [ @a += @x ]', ['2:29 unchangeable']],
    ['a loop in a parallel loop', 'for parallel @x in [1] [\n  let @a = 1\n  for @y in [1] [ @a += @y ]\n]', ['3:19 unchangeable']],
    ['a call in a function', 'var @a = [1]\nexe @f() = [ => @a() ]', ['2:17 not-a-function']],
    ['a call in a branch', 'var @a = "a"\nif false [ show @a() ] else [ show @a() ]', ['2:17 not-a-function', '2:36 not-a-function']],
    [
      'a call in an arm',
      'var @a = "a"\nwhen [\n  false => show @a()\n  @a() => show "1"\n]',
      ['3:17 not-a-function', '4:3 not-a-function'],
    ],
    ['a call in a loop', 'var @a = "a"\nfor @x in [] [ show @a() ]', ['2:21 not-a-function']],
    [
      'a call behind an operator',
      'var @a = "a"\nvar @b = false && @a()\nvar @c = true ? 1 : @a()',
      ['2:19 not-a-function', '3:21 not-a-function'],
    ],
    ['a call behind an end', 'var @a = "a"\nif true [ => 1 ]\nshow @a()', ['3:6 not-a-function']],
    ['a call in a hook', 'var @a = "a"\nhook @h before op:exe = [ show @a() ]', ['2:32 not-a-function']],
    ['a stage behind a call', 'var @a = "a"\nexe @f() = ""\nvar @b = @f() | @a', ['3:17 not-a-function']],
    ['a part of a text', 'var @a = "a"\nvar @b = ""\nshow `@b?`@a()``', ['3:11 not-a-function']],
  ])('%s', async (_, source, found) => {
    const report = await analyze({ 'main.mld': source });
    expect(errorLines(report)).toEqual([]);
    expect(warningLines(report).filter((line) => /unchangeable|not-a-function/.test(line))).toEqual(found);
  });
});

describe('undefined variables', () => {
  const rows: readonly Row[] = [
    ['in a template', 'var @name = 1\nshow `hi @nmae`', ['2:10 undefined-variable @nmae']],
    ['in every kind of text', 'show "@a b"\nshow ::@b c::\nshow :::{{c}}:::\nrun cmd {echo @d}', ['1:7 undefined-variable @a', '2:8 undefined-variable @b', '3:11 undefined-variable @c', '4:15 undefined-variable @d']], // prettier-ignore
    ['not in code', 'run sh { echo @a }\nexe @f() = js { return "@b" }', []],
    ['an address', 'show "mail crew@port or me@hof.example"', []],
    ['as a value, an argument, a stage', 'exe @f(x) = `@x`\nvar @r = @f(@y) | @g\nshow @r', ['2:13 undefined-variable @y', '2:19 undefined-variable @g']], // prettier-ignore
    ['a name that is declared further down', 'show @a\nvar @a = 1', ['1:6 undefined-variable @a']],
    ['a body that is called later', 'exe @f() = `@a @g()`\nvar @a = 1\nexe @g() = "g"\nshow @f()', []],
    ['its own value', 'var @a = @a', ['1:10 undefined-variable @a']],
    ['after the block', 'if true [\n  let @a = 1\n  show @a\n]\nshow `@a!`', ['5:7 undefined-variable @a']],
    ['after the entries of a when', 'when [\n  let @a = 1\n  @a == 1 => show @a\n]\nshow `@a!`', ['5:7 undefined-variable @a']],
    ['variables of loops', 'for @k, @v in {"a": 1} => show `@k @v`\nfor @o in {"a": 1} => show `@o @o_key`\nshow `@v!`', ['3:7 undefined-variable @v']], // prettier-ignore
    ['filters of loops', 'var @r = for @x in [1, 2] when @x > 1 => @x\nshow @r', []],
    [
      'loops in templates',
      'var @l = [1]\nshow `\n/for @x in @l\n@x @y\n/end\n@x`',
      ['4:4 undefined-variable @y', '6:1 undefined-variable @x'],
    ],
    [
      'names that everybody has',
      'show `@now @root @base @mx.try @payload.a @state @p[0] @input @debug`\nvar @s = [1] | @sort | @UPPER',
      [],
    ],
    ['frontmatter', '---\na: b\n---\nshow @fm.a', []],
    ['no frontmatter', 'show @fm.a', ['1:6 undefined-variable @fm']],
    ['the output of a guard after', 'guard after op:run = when [ @output == "x" => deny "no" ]', []],
    ['the output of a hook before', 'hook before op:run = [ log @output ]', ['1:28 undefined-variable @output']],
    ['named variables of code', 'run js (@a) { return a }', ['1:5 undefined-variable @a']],
    ['appending', 'if true [ @a += 1 ]', ['1:11 undefined-variable @a']],
    ['what is evaluated at the end of a checkpoint', 'checkpoint "a" with { complete: @done }\nvar @done = true', []],
    ['names of guards', 'exe @f() = "x"\nshow @f() with { guards: { only: ["@g"] } }', []],
    ['where the script says what happens without it', 'show `(@a?)(@b??"d")`\nvar @o = { "k"?: @a, "l": [@b?] }\nvar @d = @c ?? 1', []],
    ['where it asks', 'show @exists(@a)\nif @b.isDefined() [ show "1" ]', []],
    ['shadow functions', 'exe js = { f }', ['1:12 undefined-variable @f']],
    ['an export', 'export { @a, @b, @g }\nvar @a = 1\nguard @g before op:run = when [ * => allow ]', ['1:14 undefined-export @b']],
    ['markdown', '# Title @nobody\n\n/var @a = 1\n/show `@a @b`\n', ['4:11 undefined-variable @b']],
  ];
  it.each(rows)('%s', async (about, source, found) => {
    const report = await analyze(source, { main: about === 'markdown' ? 'main.mld.md' : 'main.mld' });
    expect(warningLines(report)).toEqual(found);
    expect(errorLines(report)).toEqual([]);
  });

  it('suggests a similar name', async () => {
    const { warnings = [] } = await analyze('var @name = 1\nshow @nmae\nshow @later\nvar @later = 1');
    expect(warnings.map(({ message, hint }) => `${message}: ${hint}`)).toEqual([
      'undefined variable: did you mean @name?',
      'undefined variable: it is declared further down, in line 4',
    ]);
  });

  it('knows resolver prefixes', async () => {
    const source = 'show <@lib/a.txt>\nshow <@other/a.txt>';
    const report = await analyze(source, { prefixes: [{ prefix: '@lib/', basePath: '/project/src' }] });
    expect(warningLines(report)).toEqual(['2:7 undefined-variable @other']);
  });
});

describe('other warnings', () => {
  const rows: readonly Row[] = [
    ['a misspelt option of a value', 'exe @f(x) = `@x`\nshow @f(1) with { steam: true, stream: false }', ['2:19 unknown-option']],
    ['an option of functions at a call', 'exe llm @f(x) = `@x`\nvar @y = @f(1) with { retries: 1 }', ['2:23 unknown-option']],
    ['options of values', 'exe @f(x) = `@x`\nshow foreach @f([1]) with { separator: ", ", template: "t", guards: false }', []],
    ['a hook on a misspelt function', 'exe @ask(q) = `@q`\nhook after @aks = [ log "a" ]', ['2:1 unknown-filter']],
    ['a guard on no function', 'exe @ask(q) = `@q`\nguard before @tell = when [ * => allow ]', ['2:1 unknown-filter']],
    ['a hook on a function below', 'hook after @ask = [ log "a" ]\nexe @ask(q) = `@q`', []],
    ['a hook on a built-in stage', 'hook after @parse = [ log "a" ]\nexe @ask(q) = `@q`', []],
    ['a hook on a function that importers may have', 'exe @note(q) = `@q`\nhook after @ask = [ log "a" ]\nexport { @note }', []],
    ['a hook on a function of a module', 'import { b } from "./x.mld"\nhook after @ask = [ log "a" ]', []],
    ['generic names of parameters', 'exe @f(day, result) = `@day @result`', ['1:13 exe-parameter-shadowing']],
    ['the older name of @parse', 'var @a = "[1]" | @json\nshow @json("[1]")\nshow `@a|@json`', ['1:18 deprecated-json-transform', '2:6 deprecated-json-transform', '3:9 deprecated-json-transform']], // prettier-ignore
    ['a @json of one’s own', 'exe @json(x) = `@x`\nshow @json("a")', []],
    ['a hyphen that was meant as text', 'var @stage = 1\nshow `@stage-done`', ['2:7 hyphenated-identifier-in-template @stage-done']],
    ['a name with a hyphen', 'var @stage-done = 1\nshow `@stage-done`', []],
    ['a hyphen in an unknown name', 'show `@some-thing`', ['1:7 undefined-variable @some-thing']],
    ['an immutable local bound again', 'exe @f() = [ var @a = 1; let @a = 2; => @a ]', ['1:30 shadowed-name']],
    ['a local like a parameter', 'exe @f(a) = [ let @a = 2; => @a ]', ['1:19 shadowed-name']],
    ['a local like a variable above', 'var @a = 1\nexe @f() = [ let @a = 2; => @a ]', ['2:18 shadowed-name']],
    ['a function that calls itself', 'exe llm @f(n) = [\n  if @n > 1 [ => @f(@n - 1) ]\n  => @n\n]', ['1:9 unlabelled-recursion']],
    ['a function that pipes into itself', 'exe @f(n) = @n | @f', ['1:5 unlabelled-recursion']],
    ['a let in a when that is a statement', 'var @n = 1\nwhen [\n  let @n = 2\n  * => show @n\n]', ['3:7 shadowed-name']],
    [
      'too few arguments that the caller fills',
      'exe @f(a, b) = `@a @b`\nvar @b = 1\nshow @f(1)\nfor @b in [1] [ show @f(2) ]',
      ['4:22 arguments-of-the-caller'],
    ],
    [
      'too few arguments of code, or in a stage',
      'exe @f(a, b) = js { return a }\nexe @g(a, b) = `@a`\nfor @b in [1] [ show @f(2); show @b | @g ]',
      [],
    ],
    ['too many arguments', 'exe @f(a) = `@a`\nshow @f(1, 2)\nshow @f()', ['2:6 surplus-arguments']],
    ['too many arguments in a stage', 'exe @f(a) = `@a`\nshow "x" | @f | @f(2)', ['2:17 surplus-arguments']],
    ['a stage without parameters', 'exe @f() = `@input`\nshow "x" | @f', []],
    ['members of a group without source', 'exe @f(a) = `@a`\nvar @r = || @f(1) || @f(2)\nshow @r', []],
    ['an alias hands everything on', 'exe @g(a, b) = `@a @b`\nexe @f = @g\nshow @f(1, 2)', []],
    [
      'options for labelled calls of a function that has none',
      'exe @f(a) = `@a` with { key: [@a],\n  writes: "x" }\nvar llm @y = [@f("1")]\nshow @f("1")',
      ['1:25 unused-call-option', '2:3 unused-call-option'],
    ],
    ['options of a function that is labelled', 'exe pii, llm @f(a) = `@a` with { key: [@a] }\nshow @f("1")', []],
    [
      'options for a labelled call',
      'exe @f(a) = `@a` with { key: [@a] }\nexe @g() = [ var llm @x = @f("1") with { guards: false }; => @x ]',
      [],
    ],
    ['options of a function that gets another name', 'exe @f(a) = `@a` with { key: [@a] }\nvar @g = @f\nvar llm @x = @g("1")\nshow @x', []],
    ['options of a function for others', 'exe @f(a) = `@a` with { key: [@a] }\nexport { @f }', []],
    ['a local like a function below', 'exe @f() = [ let @g = 1; => @g ]\nexe @g() = `g`\nshow @f()', ['1:18 declared-below']],
    [
      'a local of a hook like a variable below',
      'hook before op:exe = [ let @n = 1; show @n ]\nvar @n = 2\nshow @n',
      ['1:28 declared-below'],
    ],
    ['a local of a choice like a function below', 'exe @f() = when [ let @g = 1; * => @g ]\nexe @g() = `g`\nshow @f()', []],
    ['a local like the arm of a choice below', 'exe @f() = [ let @g = 1; => @g ]\nwhen [ true => var @g = 1 ]\nshow @f()', []],
    ['too few arrays', 'exe @f(a, b) = `@a @b`\nvar @r = foreach @f(["1"])\nshow @r', ['2:18 missing-arrays']],
    ['an array for each parameter', 'exe @f(a, b) = `@a @b`\nvar @r = foreach @f(["1"], ["2"])\nshow @r', []],
    ['a parameter that hides the function', 'exe @f(a) = `@a`\nexe @g(f) = [ => @f(1, 2) ]\nshow @g(@f)', []],
    ['arms below one that always matches', 'var @n = 1\nwhen [\n  * => show "1"\n  @n => show "2"\n]', ['4:3 unreachable-arm']],
    ['a literal twice', 'var @n = "a"\nwhen @n [\n  "a" => show "1"\n  "b" => show "2"\n  \'a\' => show "3"\n]', ['5:3 unreachable-arm']],
    ['a condition twice', 'var @n = 1\nwhen [\n  @n > 1 => show "1"\n  @n > 1 => show "2"\n  * => show "3"\n]', ['4:3 unreachable-arm']],
    [
      'a condition that may change',
      'exe @f() = js { return Math.random() }\nwhen [\n  @f() > 1 => show "1"\n  @f() > 1 => show "2"\n]',
      [],
    ],
    [
      'a circle of functions',
      'exe @a() = [ => @b() ]\nexe recursive @b() = [ => @c() ]\nexe @c() = `@a() @d()`\nexe @d() = "d"',
      ['1:5 unlabelled-circle', '3:5 unlabelled-circle'],
    ],
    ['a circle with labels', 'exe recursive @a() = [ => @b() ]\nexe recursive @b() = [ => @a() ]', []],
    [
      'functions that lead into a circle',
      'exe @in() = [ => @a() ]\nexe recursive @a() = [ => @b() ]\nexe recursive @b() = [ => [@a(), @out()] ]\nexe @out() = "o"',
      [],
    ],
    ['a condition about a new name', 'var @n = 1\nwhen [\n  @n > 1 => show "1"\n  let @n2 = 2\n  @n > 1 => show "2"\n]', []],
    ['rules of a guard', 'guard before op:run = when [\n  * => allow\n  @input => deny "no"\n]', ['3:3 unreachable-arm']],
  ];
  it.each(rows)('%s', async (_about, source, found) => {
    const report = await analyze(source);
    expect(warningLines(report)).toEqual(found);
    expect(report.valid).toBe(true);
  });

  it('notes built-in functions that get another meaning', async () => {
    const { redefinitions, valid } = await analyze('exe @upper(x) = `@x`\nvar @fileExists = 1');
    expect(redefinitions?.map(({ line, column, variable }) => `${line}:${column} @${variable}`)).toEqual(['1:5 @upper', '2:5 @fileExists']);
    expect(valid).toBe(true);
  });

  it('leaves out findings that the project suppresses, but never errors', async () => {
    const source = 'exe @f(result) = `@result @x`\nvar @now = 1';
    const report = await analyze(source, { suppressed: ['exe-parameter-shadowing', 'reserved-name'] });
    expect(warningLines(report)).toEqual(['1:27 undefined-variable @x']);
    expect(errorLines(report)).toEqual(['2:5 reserved-name']);
  });
});

describe('the declarations of a script', () => {
  it('is in the report', async () => {
    const source = [
      'import { a, b as @c } from "./x.mld"',
      'import "./y.mld" as @y',
      'exe llm, slow @ask(q, model) = `@q @model @a @c @y.z`',
      'guard @g before @ask = when [ * => allow ]',
      'guard after op:run = when [ * => allow ]',
      'export { @ask }',
    ].join('\n');
    expect(await analyze(source)).toEqual({
      filepath: 'main.mld',
      valid: true,
      executables: [{ name: 'ask', params: ['q', 'model'], labels: ['llm', 'slow'] }],
      exports: ['ask'],
      imports: [
        { from: './x.mld', names: ['a', 'c'] },
        { from: './y.mld', names: ['y'] },
      ],
      guards: [
        { name: 'g', timing: 'before', filter: '@ask' },
        { timing: 'after', filter: 'op:run' },
      ],
      reads: ['main.mld'],
    });
  });
});
