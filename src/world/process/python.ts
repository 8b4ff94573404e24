/** Runs Python bodies by one program, the same for all, which reads the body and its values from descriptor 3. */
import type { EffectRequest } from '../world.js';

/** Writes the input of `PYTHON_PROGRAM`. */
export function pythonJob({ code, variables, shadow = [] }: EffectRequest<'command.run'>): string {
  return JSON.stringify({ code, variables, shadow });
}

/**
 * The body runs as `__main__` with its parameters as globals; shadow functions run in a scope of their own and return None. The object
 * `mlld` reports about the call around, in the file that the environment names; outside of a call it does nothing (calls.md 9.2).
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

    def compiled(code, name):
        import linecache
        first = next((line for line in code.splitlines() if line.strip()), "")
        if first[:1] in (" ", "\\t"):
            import textwrap
            code = textwrap.dedent(code)
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        return compile(code, name, "exec")

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
        return {named(name): value for name, value in members.items() if value is not None}

    CallFailed = type("CallFailed", (Exception,), {})

    def fail(failure_class, message="", **details):
        if report("fail", {"class": failure_class, "message": message, **camel(details)}):
            raise CallFailed(f"{failure_class}: {message}")

    mlld = types.SimpleNamespace(
        usage=lambda **members: report("usage", camel(members)) and None,
        fail=fail,
        headers=lambda headers: report("headers", {str(name): str(text) for name, text in dict(headers).items()}) and None,
    )

    functions = {"mlld": mlld}

    def function(name, params, program):
        def call(*args, **named):
            if len(args) > len(params):
                raise TypeError(f"{name}() takes {len(params)} arguments but {len(args)} were given")
            scope = {"__name__": "__main__", **functions, **dict.fromkeys(params), **dict(zip(params, args)), **named}
            exec(program, scope)
        call.__name__ = name
        return call

    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    try:
        for shadow in job["shadow"]:
            name = shadow["name"]
            functions[name] = function(name, shadow["params"], compiled(shadow["code"], f"<{name}>"))
        main.__dict__.update(functions)
        main.__dict__.update(job["variables"])
        exec(compiled(job["code"], "<py>"), main.__dict__)
    except Exception as error:
        import traceback
        sys.stdout.flush()
        traceback.print_exception(type(error), error, error.__traceback__.tb_next)
        sys.exit(1)

start()
`;
