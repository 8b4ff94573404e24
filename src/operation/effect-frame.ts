/** The members of a frame that recording an effect needs. Every frame has them; a test passes a literal. */
import type { Context } from '../runtime/context.js';
import type { Frame, RunState } from '../runtime/frame.js';
import type { Interceptors } from '../runtime/ports.js';

export interface EffectFrame extends Pick<Frame, 'bodyCode' | 'op' | 'secret' | 'stack'> {
  readonly context: Pick<Context, 'checkpoint' | 'op'>;
  readonly run: Pick<RunState, 'cache' | 'recorder' | 'secrets' | 'warn'> & {
    readonly interceptors: Pick<Interceptors, 'active'> & { readonly guards: Pick<Interceptors['guards'], 'watch'> };
  };
}
