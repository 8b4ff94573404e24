/** The handlers that there are, by type; a program may add its own and replace these. graph-pipelines.md 4 and 7.9. */
import { codergen } from './codergen.js';
import { conditional } from './conditional.js';
import { fanIn } from './fan-in.js';
import type { Handler, Handlers } from './handler.js';
import { human } from './human.js';
import { managerLoop } from './manager-loop.js';
import { parallel } from './parallel.js';
import { start } from './terminals.js';
import { tool } from './tool.js';

const BUILT_IN: readonly (readonly [string, Handler])[] = [
  ['start', start],
  ['exit', start],
  ['codergen', codergen],
  ['wait.human', human],
  ['conditional', conditional],
  ['parallel', parallel],
  ['parallel.fan_in', fanIn],
  ['tool', tool],
  ['stack.manager_loop', managerLoop],
];

/** A program's handler may leave a status file, and its attempts have the node's time. */
export function handlersWith(own: Handlers): Handlers {
  const added = [...own].map(([type, handler]): [string, Handler] => [type, { isTimed: true, mayReport: true, ...handler }]);
  return new Map([...BUILT_IN, ...added]);
}
