/** At hand, or only later. An `await` that waits for nothing still costs a turn of the event loop, and a run makes thousands of calls. */
export type Awaitable<T> = T | Promise<T>;
