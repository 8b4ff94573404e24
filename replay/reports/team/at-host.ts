/** Names a worker for people: `hut on db7`. Workers without a name are called after their machine; journals of before do not say it. */
export function atHost(worker: string, host: string | undefined): string {
  return host === undefined || worker.startsWith(`${host}/`) ? worker : `${worker} on ${host}`;
}
