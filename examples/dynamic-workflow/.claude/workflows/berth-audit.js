export const meta = {
  name: 'berth-audit',
  description: 'Look at each berth, let three skeptics refute what was found, write up the rest',
  phases: [{ title: 'Look' }, { title: 'Check' }, { title: 'Write' }],
};

const FOUND = {
  type: 'object',
  required: ['faults'],
  properties: { faults: { type: 'array', minItems: 1, items: { type: 'string', minLength: 3 } } },
};
const VOTE = { type: 'object', required: ['real'], properties: { real: { type: 'boolean' } } };
const berths = args?.berths ?? ['north', 'south'];

const checked = await pipeline(
  berths,
  (berth) => agent(`List the faults of berth ${berth}.`, { label: `look:${berth}`, phase: 'Look', schema: FOUND }),
  (found, berth) =>
    parallel(
      found.faults.map((fault) => async () => {
        // The same question three times is three samples: one answer for all would make the votes worthless.
        const skeptic = () => agent(`Refute: ${fault} (berth ${berth})`, { label: `vote:${berth}`, phase: 'Check', schema: VOTE });
        const votes = await parallel([skeptic, skeptic, skeptic]);
        return { berth, fault, isReal: votes.filter((vote) => vote?.real).length >= 2 };
      }),
    ),
);

phase('Write');
return await agent(`Write up: ${JSON.stringify(checked.filter(Boolean).flat())}`, { label: 'report' });
