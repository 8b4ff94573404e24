import audit from './audit.ts';

const report = await audit.run({ berths: process.argv.slice(2) }, { resume: true, parallel: 2 });
console.log(report.status, JSON.stringify(report.result ?? String(report.error)));
console.log(`${report.totals.executed} executed, ${report.totals.reused} reused`);
process.exitCode = report.status === 'completed' ? 0 : 1;
