/** Makes the frame in which the body of a function runs: it sees its parameters and the module that declares it. control.md 4. */
import { SECRET } from '../../runtime/secrets/secret-registry.js';
import type { Value } from '../../values/value.js';
import { PIPELINE_NAMES } from '../../runtime/context.js';
import type { Executable } from '../../runtime/definitions/executable.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';

export function functionFrame(executable: Executable, inputs: readonly Value[], frame: Frame, ambient?: ReadonlyMap<string, Value>): Frame {
  const { module } = executable;
  const scope = new Scope('function', module.scope);
  if (ambient) for (const [name, value] of ambient) scope.define({ name, value, kind: 'ambient' });
  scope.piped = ambient?.get('input');
  executable.params.forEach((name, i) => {
    const isUnfilled = ambient !== undefined && inputs[i] === '' && PIPELINE_NAMES.includes(name);
    if (!isUnfilled) scope.define({ name, value: inputs[i], kind: 'param' });
  });
  const { code, labels } = executable;
  const secret = labels.includes(SECRET) ? true : frame.secret;
  const context = { ...frame.context, parallel: undefined };
  return {
    ...frame,
    module,
    scope,
    context,
    within: 'body',
    secret,
    bodyCode: code ?? frame.bodyCode,
    guards: undefined,
    sorting: undefined,
  };
}
