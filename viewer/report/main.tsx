/** Shows the page of a run. */
import { render } from 'preact';
import { App } from './app.js';
import { createModel, detailsOfLines, type PageData, type RunDiff } from './model/page-model.js';

function main(): void {
  const data = JSON.parse(textOf('data')) as PageData;
  const diff = (JSON.parse(textOf('diff')) as RunDiff | null) ?? undefined;
  const model = createModel(data, diff, detailsOfLines(textOf('details').split('\n')));
  const place = document.getElementById('page');
  if (place) render(<App model={model} />, place);
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? 'null';
}

main();
