/** Maps the state of a node in a run to a colour and a caption: people who can't tell the colours apart read the caption. */

export interface NodeState {
  /** `waiting`: a person has been asked. `interrupted`: the node had started and its run ended before it did. */
  readonly status: 'success' | 'partial_success' | 'retry' | 'fail' | 'skipped' | 'running' | 'waiting' | 'interrupted';
  /** Counts finished visits. */
  readonly visits: number;
}

export const COLOURS: { readonly [S in NodeState['status']]: string } = {
  success: '#d7f0dc',
  partial_success: '#eef0b4',
  retry: '#fde3b5',
  fail: '#fbd5d2',
  skipped: '#eaeef2',
  running: '#cfe5fb',
  waiting: '#ffdf7a',
  interrupted: '#e4e2ef',
};

export function captionOf({ status, visits }: NodeState): string {
  const words = status === 'waiting' ? 'waits for an answer' : status.replace('_', ' ');
  return `${words}${visits > 1 ? ` (${visits} visits)` : ''}`;
}
