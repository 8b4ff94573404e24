/** Leaves lines out of a report whose members this program can't read, for commands and servers that read runs themselves. */
export { OddLines, reportStore } from '../../../replay/reports/report-store.js';
