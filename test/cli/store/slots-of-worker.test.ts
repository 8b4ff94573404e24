import { expect, it } from 'vitest';
import { slotsOf } from '../../../cli/commands/store/worker.js';

const cases: readonly (Parameters<typeof slotsOf>[0] & { readonly said: string })[] = [
  { held: 0, slots: { '': 8 }, said: '0/8' },
  { held: 7, slots: { '': 4, claude: 4 }, said: '7/8' },
  { held: 13, slots: { '': 8 }, said: '8/8 +5' },
];

it.each(cases)('a worker that has claimed $held calls uses the slots $said', ({ held, slots, said }) => {
  expect(slotsOf({ held, slots })).toBe(said);
});
