// The CPU of processes that others have started, read from /proc.

import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_S = 100;
const LOOK_MS = 50;

/** Seconds; 0 for a process that is gone. */
export function cpuOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
  } catch {
    return 0;
  }
}

/** Returns what gives the CPU of processes since now, also of those that have begun or ended meanwhile. */
export function followCpu(pids) {
  const began = new Map(pids().map((pid) => [pid, cpuOf(pid)]));
  const latest = new Map();
  const look = () => {
    for (const pid of pids()) latest.set(pid, Math.max(cpuOf(pid), latest.get(pid) ?? 0));
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
    return [...latest].reduce((sum, [pid, cpu]) => sum + cpu - (began.get(pid) ?? 0), 0);
  };
}

/** The processes that serve the connections to a database (a URL), where its server is on this machine. It may have a name of its own. */
export function serverPids(database) {
  const ours = new RegExp(`^postgres: (\\S+: )?\\S+ ${database.pathname.slice(1)} `);
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && ours.test(readCommand(pid)));
}

function readCommand(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
