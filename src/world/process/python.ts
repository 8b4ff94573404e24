/** Runs Python bodies by one program, the same for all, which reads the body and its values from descriptor 3. */
import type { EffectRequest } from '../world.js';

/** Writes the input of `PYTHON_PROGRAM`. */
export function pythonJob({ code, variables, shadow = [] }: EffectRequest<'command.run'>): string {
  return JSON.stringify({ code, variables, shadow });
}

/**
 * The body runs as `__main__` with its parameters as globals; shadow functions run in a scope of their own, and those with a `return` at
 * the top are made functions with their parameters. The object `mlld` reports about the call around, in the file that the environment
 * names; outside of a call it does nothing (calls.md 9.2). It also knows the values of the script (control.md 5.7).
 * A body that is indented as a whole is moved to the margin. Tracebacks begin in the body, with its lines.
 */
export const PYTHON_PROGRAM = `
import sys

def start():
    import json, os, types
    with os.fdopen(3, encoding="utf-8") as channel:
        text = channel.read()
    if text == "":
        sys.exit(143)
    job = json.loads(text)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")

    def prepared(code, name):
        import linecache
        first = next((line for line in code.splitlines() if line.strip()), "")
        if first[:1] in (" ", "\\t"):
            import textwrap
            code = textwrap.dedent(code)
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        return code

    def returns(body):
        import ast
        inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        left = list(body)
        while left:
            node = left.pop()
            if isinstance(node, ast.Return):
                return True
            if not isinstance(node, inner):
                left.extend(ast.iter_child_nodes(node))
        return False

    def usable(names):
        import keyword
        return [name for name in names if name.isidentifier() and not keyword.iskeyword(name)]

    def program(code, file, name, params):
        source = prepared(code, file)
        if "return" not in source:
            return compile(source, file, "exec"), False
        import ast
        tree = ast.parse(source, file)
        if not returns(tree.body) or not usable([name]):
            return compile(source, file, "exec"), False
        made = ast.parse(f"def {name}({', '.join(usable(params))}): pass", file)
        made.body[0].body = tree.body
        return compile(made, file, "exec"), True

    def report(member, content):
        path = os.environ.get("MLLD_CALL_REPORT")
        if path is None:
            return False
        plain = lambda value: value.item() if hasattr(value, "item") else str(value)
        line = json.dumps({member: content}, default=plain) + "\\n"
        with open(path, "a", encoding="utf-8") as file:
            file.write(line)
        return True

    def camel(members):
        def named(name):
            first, *others = name.split("_")
            return first + "".join(other.capitalize() for other in others)
        # JSON has no nan and no inf: as a text it is ignored alone, and not with the whole line.
        def written(value):
            number = value.item() if hasattr(value, "item") else value
            return str(number) if isinstance(number, float) and number - number != 0 else value
        return {named(name): written(value) for name, value in members.items() if value is not None}

    CallFailed = type("CallFailed", (Exception,), {})

    def fail(failure_class, message="", **details):
        if report("fail", {"class": failure_class, "message": message, **camel(details)}):
            raise CallFailed(f"{failure_class}: {message}")

    variables = job["variables"]

    def script_type(value):
        return "array" if isinstance(value, list) else "object"

    def marked(value):
        if isinstance(value, list):
            return type("ScriptList", (list,), {"__mlld_type__": "array"})(marked(element) for element in value)
        if isinstance(value, dict):
            return type("ScriptDict", (dict,), {"__mlld_type__": "object"})({key: marked(entry) for key, entry in value.items()})
        return value

    # Plain lists and dicts unless the body asks for more: libraries may look at the exact class.
    if "__mlld_type__" in job["code"]:
        variables = {name: marked(value) for name, value in variables.items()}

    known = {}

    def remember(value):
        if isinstance(value, (list, dict)):
            known[id(value)] = value
            for inner in value.values() if isinstance(value, dict) else value:
                remember(inner)

    def is_known(value):
        if not known:
            for variable in variables.values():
                remember(variable)
        return id(value) in known

    def is_variable(value, name=None):
        if isinstance(value, (list, dict)):
            return is_known(value)
        return name in variables and type(variables[name]) is type(value) and variables[name] == value

    mlld = types.SimpleNamespace(
        is_variable=is_variable,
        get_type=lambda value: script_type(value) if isinstance(value, (list, dict)) and is_known(value) else None,
        get_metadata=lambda value: {"type": script_type(value)} if isinstance(value, (list, dict)) and is_known(value) else {},
        usage=lambda **members: report("usage", camel(members)) and None,
        fail=fail,
        headers=lambda headers: report("headers", {str(name): str(text) for name, text in dict(headers).items()}) and None,
    )

    functions = {"mlld": mlld}

    def function(name, params, compiled_program):
        body, is_function = compiled_program
        def call(*args, **named):
            if len(args) > len(params):
                raise TypeError(f"{name}() takes {len(params)} arguments but {len(args)} were given")
            given = {**dict.fromkeys(params), **dict(zip(params, args)), **named}
            scope = {"__name__": "__main__", **functions, **given}
            exec(body, scope)
            if is_function:
                made = scope[name]
                scope[name] = functions[name]
                return made(*(given[param] for param in usable(params)))
        call.__name__ = name
        return call

    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    try:
        for shadow in job["shadow"]:
            name = shadow["name"]
            functions[name] = function(name, shadow["params"], program(shadow["code"], f"<{name}>", name, shadow["params"]))
        main.__dict__.update(functions)
        main.__dict__.update(variables)
        exec(compile(prepared(job["code"], "<py>"), "<py>", "exec"), main.__dict__)
    except Exception as error:
        import traceback
        sys.stdout.flush()
        traceback.print_exception(type(error), error, error.__traceback__.tb_next)
        sys.exit(1)

start()
`;
