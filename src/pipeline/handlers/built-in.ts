/** Lists the built-in handlers by type. An embedding program may add handlers and replace these. graph-pipelines.md 4 and 7.9. */
import { withoutUndefined } from '../../values/without-undefined.js';
import { outcomeOf } from '../model/outcome.js';
import { ownOutcome } from '../stage/status-file.js';
import { codergen } from './codergen.js';
import { fanIn } from './fan-in.js';
import type { Handler, Handlers } from './handler.js';
import { human } from './human.js';
import { managerLoop } from './manager-loop.js';
import { parallel } from './parallel.js';
import { tool } from './tool.js';

/**
 * Does nothing and succeeds. The exit has it for the table's sake: the traversal records the exit without a handler. graph-pipelines.md
 * 6.2, 7.1.
 */
const terminal: Handler = { handle: async () => outcomeOf('success') };

/** A diamond routes on the outcome before it and calls nothing. graph-pipelines.md 6.3, 7.2. */
const conditional: Handler = { isTransparent: true, handle: async () => outcomeOf('success') };

const BUILT_IN: readonly (readonly [string, Handler])[] = [
  ['start', terminal],
  ['exit', terminal],
  ['codergen', codergen],
  ['wait.human', human],
  ['conditional', conditional],
  ['parallel', parallel],
  ['parallel.fan_in', fanIn],
  ['tool', tool],
  ['stack.manager_loop', managerLoop],
];

/** @param own handlers of the embedding program: unless they say otherwise they are timed and may leave a status file */
export function handlersWith(own: Handlers): Handlers {
  return new Map([...BUILT_IN, ...[...own].map(([type, handler]): [string, Handler] => [type, ownHandler(type, handler)])]);
}

/** Reads the members by name, because those of an instance of a class may be inherited. */
function ownHandler(type: string, handler: Handler): Handler {
  const { isTimed = true, mayReport = true, callsModel, isTransparent, limitsItsCalls } = handler;
  return {
    ...withoutUndefined<Omit<Handler, 'handle'>>({ isTimed, mayReport, callsModel, isTransparent, limitsItsCalls }),
    async handle(stage) {
      const outcome = await handler.handle(stage);
      return outcome && ownOutcome(outcome, `the outcome of the handler ${type}`);
    },
  };
}
