/** At hand, or only later. An `await` of a value that is at hand still costs a microtask, and a run makes thousands of calls. */
export type Awaitable<T> = T | Promise<T>;
