/** Runs `| log`, `| show`, `| output to …` and `| append …`; the value passes through unchanged. control.md 22. */
import type { EffectStage } from '../../../grammar/ast.js';
import type { Value } from '../../values/value.js';
import type { Frame } from '../../runtime/frame.js';
import { Scope } from '../../runtime/scope.js';
import { logValue, showValue } from '../statements/show.js';
import { effectInput, type EffectInput } from '../expressions/effect-input.js';
import { writeTarget } from '../files/output.js';

export async function evaluateInlineEffect(stage: EffectStage, current: Value, frame: Frame): Promise<void> {
  const scope = new Scope('block', frame.scope);
  scope.define({ name: 'input', value: current, kind: 'ambient' });
  const around = frame.context.stage;
  const inner = { ...frame, scope, context: { ...frame.context, stage: around && { ...around, input: current } } };
  const input: EffectInput = stage.value ? await effectInput(stage.value, inner) : { value: current };
  switch (stage.effect) {
    case 'show':
      await showValue(input.value, inner, [], input.pieces);
      return;
    case 'log':
      await logValue(input, inner);
      return;
    default:
      if (!stage.target) throw new Error(`an ${stage.effect} without a target`);
      await writeTarget(stage.effect, input, stage.target, stage.format, inner);
  }
}
