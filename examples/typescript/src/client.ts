/** A client of a model as any program has one. It knows nothing of mlld. */
export interface Completion {
  readonly text: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An error of the provider keeps its status, by which mlld knows a rate limit from a refusal. */
export class ProviderError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function complete(
  prompt: string,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<Completion> {
  const response = await fetch(`${process.env['MODEL_URL'] ?? 'http://127.0.0.1:8787'}/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ prompt }),
    signal,
  });
  if (!response.ok) throw new ProviderError(response.status, `the provider says ${response.status}`);
  return (await response.json()) as Completion;
}
