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

/**
 * Returns what finds the processes that serve the connections to a database (a URL), where its server is on this machine. It may have a
 * name of its own. All processes are searched until one is found. From then on only those that its server starts are, because a look at
 * all of them took a twentieth of a core from what was measured.
 */
export function createServerPids(database) {
  const ours = new RegExp(`^postgres: (\\S+: )?\\S+ ${database.pathname.slice(1)} `);
  const known = new Set();
  let server;
  return () => {
    const pids = server === undefined ? allPids() : childrenOf(server);
    const found = pids.filter((pid) => known.has(pid) || ours.test(readCommand(pid)));
    for (const pid of found) known.add(pid);
    if (found.length > 0) server ??= parentOf(found[0]);
    return found;
  };
}

function allPids() {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid));
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
}

/** Undefined where the system does not list the children of a process, or the process has ended. */
function parentOf(pid) {
  try {
    const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1];
    childrenOf(parent);
    return parent;
  } catch {
    return undefined;
  }
}

function readCommand(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
