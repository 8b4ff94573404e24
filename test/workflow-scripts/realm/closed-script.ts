/** Runs the bodies of scripts in their realm, with a host that answers at once. */
import { compileCode, createClosedRealm, currentContext } from '../../../src/world/code/closed-realm.js';
import { BOOTSTRAP } from '../../../src/workflows/realm/bootstrap.js';
import { readWorkflow } from '../../../src/workflows/text/read-script.js';

/** Runs the body of a script with a host that answers every agent with its prompt, and returns what the script returned. */
export async function run(body: string): Promise<unknown> {
  const text = `export const meta = { name: 'x', description: 'y' }\n${body}`;
  const { code, columnOffset, importName } = await readWorkflow(text, 'x.js');
  return new Promise((resolve) => {
    let count = 0;
    const ok = (...value: unknown[]): string => JSON.stringify([0, ...value]);
    const strays: string[] = [];
    const ask = (request: string, text: string): string => {
      const values = JSON.parse(text) as readonly string[];
      if (request === 'setup') return ok([null, null, importName]);
      if (request === 'agent' || request === 'group' || request === 'groupEnd' || request === 'workflow') {
        const id = String(++count);
        const [first, second] = values;
        const answer =
          request === 'group'
            ? ok(['g', Array.from({ length: Number(second) }, (_, i) => `main/g#${count}[${i}]`)])
            : request === 'agent' && first === 'fail'
              ? JSON.stringify([1, 'Error', 'no'])
              : ok(first);
        setImmediate(() => realm.deliver([id, answer]));
        return ok(id);
      }
      if (request === 'done' || request === 'failed') {
        const [value, message] = values;
        realm.close();
        resolve(request === 'done' ? value && (JSON.parse(value) as [unknown])[0] : `${value}: ${message}`);
      }
      if (request === 'stage') return ok(`${String(values[0])}/stage#${String(values[1])}`);
      return ok(request === 'log' ? currentContext() : 7);
    };
    const realm = createClosedRealm({ bootstrap: BOOTSTRAP, ask, onStray: (message) => strays.push(message) });
    realm.start(compileCode(code, { file: 'x.js', columnOffset }), 'main');
  });
}

/** Climbs from an object to a function that compiles text, and runs one; `EvalError` where no text can be compiled. */
export const CLIMB = `const climb = (thing) => {
  const tried = []
  const from = (f) => { try { tried.push(typeof f.constructor('return process')()) } catch (e) { tried.push(e.name) ; if (!(e instanceof Error)) tried.push('a foreign error') } }
  for (let at = thing; at !== null && at !== undefined; at = Object.getPrototypeOf(at)) {
    if (typeof at === 'function') from(at)
    for (const key of Reflect.ownKeys(at)) {
      let value; try { value = at[key] } catch { continue }
      if (typeof value === 'function') from(value)
      else if (typeof value === 'object' && value !== null && typeof value.constructor === 'function') from(value.constructor)
    }
  }
  return [...new Set(tried)].filter((one) => one !== 'EvalError')
};\n`;
