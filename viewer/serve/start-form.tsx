/** Starts a run: of a pipeline of the project, or of a file of this computer, with a field for each input that the pipeline declares. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fileToStart, goTo, startAddress } from './address.js';
import type { Api, Input, Pipeline, Startable } from './api.js';

const OTHER = ' ';

export function StartForm({ api }: { readonly api: Api }) {
  const [files, setFiles] = useState<readonly string[]>();
  const [choice, setChoice] = useState(fileToStart);
  const [pipeline, setPipeline] = useState<Pipeline>();
  const [form, setForm] = useState<Startable>();
  const [values, setValues] = useState<{ readonly [key: string]: string }>({});
  const [backend, setBackend] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const report = (error: unknown): void => setProblem((error as Error).message);

  useEffect(() => {
    document.title = 'Start a run';
    api.files().then((found) => {
      setFiles(found);
      setChoice((before) => (before === '' || !found.includes(before) ? (found[0] ?? OTHER) : before));
    }, report);
  }, [api]);
  useEffect(() => {
    setForm(undefined);
    setPipeline(choice === '' || choice === OTHER ? undefined : { file: choice });
    if (choice !== '') history.replaceState(undefined, '', startAddress(choice === OTHER ? '' : choice));
  }, [choice]);
  useEffect(() => {
    if (!pipeline) return undefined;
    let isCurrent = true;
    setProblem('');
    api.inputs(pipeline).then((found) => {
      if (!isCurrent) return;
      setForm(found);
      setValues(Object.fromEntries(found.inputs.map(({ key, default: fallback, secret }) => [key, secret ? '' : fallback])));
    }, report);
    return () => void (isCurrent = false);
  }, [api, pipeline]);

  const start = (): void => {
    if (!pipeline) return;
    setBusy(true);
    setProblem('');
    api
      .start(pipeline, { set: values, ...(backend.trim() === '' ? {} : { backend: backend.trim() }) })
      .then(goTo, report)
      .finally(() => setBusy(false));
  };
  return (
    <main class="start">
      <h1>Start a run</h1>
      <form
        class="card"
        aria-label="Start a run"
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <Field label="Pipeline" id="pipeline">
          <select id="pipeline" value={choice} disabled={!files} onChange={(event) => setChoice(event.currentTarget.value)}>
            {files?.map((file) => (
              <option key={file} value={file}>
                {file}
              </option>
            ))}
            <option value={OTHER}>a file of this computer</option>
          </select>
        </Field>
        {choice === OTHER && (
          <Field label="File" id="upload">
            <input
              id="upload"
              type="file"
              accept=".dot"
              required
              onChange={(event) => {
                const [file] = event.currentTarget.files ?? [];
                file?.text().then((dot) => setPipeline({ dot }), report);
              }}
            />
          </Field>
        )}
        {form && (
          <>
            {form.goal !== '' && <p class="goal">{form.goal}</p>}
            <Findings form={form} />
            {form.name !== '' && <Inputs inputs={form.inputs} values={values} onChange={setValues} />}
          </>
        )}
        {form && form.name !== '' && (
          <Field label="Backend" id="backend" hint="Empty: what the pipeline names, or simulated replies">
            <input
              id="backend"
              autocomplete="off"
              placeholder="claude, codex, simulated, cmd:./model.sh"
              value={backend}
              onInput={(event) => setBackend(event.currentTarget.value)}
            />
          </Field>
        )}
        {problem !== '' && (
          <p class="message" role="alert">
            {problem}
          </p>
        )}
        <p>
          <button type="submit" class="main" disabled={isBusy || !form || form.name === ''}>
            Start
          </button>
        </p>
      </form>
    </main>
  );
}

function Findings({ form: { diagnostics, name } }: { readonly form: Startable }) {
  if (diagnostics.length === 0) return null;
  return (
    <div class={name === '' ? 'trouble' : ''}>
      <p>{name === '' ? 'This pipeline can’t be run:' : 'What lint found:'}</p>
      <ul class="plain">
        {diagnostics.map(({ severity, message, line, fix }) => (
          <li key={`${line} ${message}`}>
            line {line}, {severity}: {message}
            {fix !== undefined && <span class="muted"> ({fix})</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface InputsProps {
  readonly inputs: readonly Input[];
  readonly values: { readonly [key: string]: string };
  readonly onChange: (values: { readonly [key: string]: string }) => void;
}

function Inputs({ inputs, values, onChange }: InputsProps) {
  if (inputs.length === 0) {
    return (
      <p class="muted">
        This pipeline declares no inputs. <code>graph [input.berth=4]</code> in its file declares one.
      </p>
    );
  }
  return (
    <fieldset>
      <legend>Inputs</legend>
      {inputs.map((input) => {
        const { key } = input;
        return (
          <Field key={key} label={key} id={`input-${key}`} hint={hintOf(input)}>
            <Value input={input} value={values[key] ?? ''} onChange={(value) => onChange({ ...values, [key]: value })} />
          </Field>
        );
      })}
    </fieldset>
  );
}

interface ValueProps {
  readonly input: Input;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Value({ input: { key, kind, secret }, value, onChange }: ValueProps) {
  const id = `input-${key}`;
  if (kind === 'boolean') {
    return <input id={id} type="checkbox" checked={value === 'true'} onChange={(event) => onChange(String(event.currentTarget.checked))} />;
  }
  if (kind === 'text' && !secret) {
    return <textarea id={id} rows={value.includes('\n') ? 5 : 1} value={value} onInput={(event) => onChange(event.currentTarget.value)} />;
  }
  const type = secret ? 'password' : 'number';
  return (
    <input
      id={id}
      type={type}
      step={kind === 'number' ? 'any' : undefined}
      required
      autocomplete="off"
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function hintOf({ kind, default: fallback, secret }: Input): string {
  if (secret) return 'secret: it is not recorded';
  const words = { integer: 'a whole number', number: 'a number', boolean: '', text: '' }[kind];
  return [words, fallback === '' ? '' : `default ${fallback}`].filter((each) => each !== '').join(', ');
}

interface FieldProps {
  readonly label: string;
  readonly id: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}

function Field({ label, id, hint = '', children }: FieldProps) {
  return (
    <p class="field">
      <label for={id}>{label}</label>
      {children}
      {hint !== '' && <small>{hint}</small>}
    </p>
  );
}
