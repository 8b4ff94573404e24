/** Reads what a worker says of itself in a row, which a colleague's SQL may have written. */
import { isObject } from '../../json-object.js';
import type { WorkerFacts } from '../../storage/workers.js';

export function workerFactsIn(value: unknown): WorkerFacts {
  const worker = isObject(value) ? value : {};
  const text = (member: string): string => (typeof worker[member] === 'string' ? worker[member] : '');
  const lanes = Object.entries(isObject(worker['lanes']) ? worker['lanes'] : {});
  return {
    name: text('name'),
    version: text('version'),
    lanes: Object.fromEntries(lanes.filter((lane): lane is [string, number] => typeof lane[1] === 'number')),
  };
}
