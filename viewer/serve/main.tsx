/** Shows the page of a server: the form for the token where the server demands one, then its runs. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isTeam, runOfTeam } from './address.js';
import { ApiError, createApi, type Api, type Role } from './api.js';
import { Shell } from './shell.js';
import { AnyRun } from './team/any-run.js';
import { TeamPage } from './team/team-page.js';

const TOKEN = 'token';

function Page() {
  const [token, setToken] = useState(() => sessionStorage.getItem(TOKEN) ?? undefined);
  const [entered, setEntered] = useState<{ readonly api: Api; readonly role: Role }>();
  const [place, setPlace] = useState({ isTeam: isTeam(), run: runOfTeam() });
  const [message, setMessage] = useState<string>();
  useEffect(() => {
    const next = createApi(token);
    next.role().then(
      (role) => setEntered({ api: next, role }),
      (error: unknown) => {
        const isRefused = error instanceof ApiError && error.status === 401;
        setMessage(isRefused ? (token === undefined ? '' : 'This is not the token.') : (error as Error).message);
      },
    );
  }, [token]);
  useEffect(() => {
    const follow = (): void => setPlace({ isTeam: isTeam(), run: runOfTeam() });
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  if (entered && place.run !== undefined) return <AnyRun key={place.run} api={entered.api} id={place.run} />;
  if (entered) return place.isTeam ? <TeamPage api={entered.api} /> : <Shell api={entered.api} mayRun={entered.role === 'run'} />;
  if (message === undefined) return null;
  const open = (given: string): void => {
    sessionStorage.setItem(TOKEN, given);
    setToken(given);
  };
  return <TokenForm message={message} onOpen={open} />;
}

function TokenForm({ message, onOpen }: { readonly message: string; readonly onOpen: (token: string) => void }) {
  const [text, setText] = useState('');
  return (
    <main class="token">
      <form
        aria-label="Token"
        onSubmit={(event) => {
          event.preventDefault();
          onOpen(text);
        }}
      >
        <h1>mlld</h1>
        <label for="token">Token of this server</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          autofocus
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Open</button>
        <p class="message" role="alert">
          {message}
        </p>
      </form>
    </main>
  );
}

render(<Page />, document.body);
