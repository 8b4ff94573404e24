/** Maps the state of a node in a run to a colour and a caption: people who can't tell the colours apart read the caption. */

export interface NodeState {
  /** `interrupted` when the node had started and its run ended before it did. */
  readonly status: 'success' | 'partial_success' | 'retry' | 'fail' | 'skipped' | 'running' | 'interrupted';
  /** Counts finished visits. */
  readonly visits: number;
}

export const COLOURS: { readonly [S in NodeState['status']]: string } = {
  success: '#c9e7cb',
  partial_success: '#eef0b4',
  retry: '#fde3b5',
  fail: '#f6c2bd',
  skipped: '#e3e3e3',
  running: '#bfdcf5',
  interrupted: '#fbd0a3',
};

export function captionOf({ status, visits }: NodeState): string {
  return `${status.replace('_', ' ')}${visits > 1 ? ` (${visits} visits)` : ''}`;
}
