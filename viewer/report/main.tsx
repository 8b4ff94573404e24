/** Shows the page of a run, and follows the run where a server serves its page anew. */
import { render } from 'preact';
import { App } from './app.js';
import { followPage } from './follow-page.js';
import { createModel, detailsOfLines, type Model, type PageData, type RunDiff } from './model/page-model.js';

function main(): void {
  const place = document.getElementById('page');
  if (!place) return;
  let model = modelOf(document);
  const show = (notice: string): void => render(<App model={model} notice={notice} />, place);
  const version = versionOf(document);
  show(version === undefined ? '' : FOLLOWING);
  if (version === undefined) return;
  void followPage(version, {
    onPage(page) {
      model = modelOf(page);
      const next = versionOf(page);
      show(next === undefined ? '' : FOLLOWING);
      return next;
    },
    onLost: () => show(LOST),
  });
}

const FOLLOWING = 'The run is still running, and this page follows it.';
const LOST = 'The server of this page does not respond: mlld journal open has ended. This is how far the page followed the run.';

function modelOf(page: Document): Model {
  const data = JSON.parse(textOf(page, 'data')) as PageData;
  const diff = (JSON.parse(textOf(page, 'diff')) as RunDiff | null) ?? undefined;
  return createModel(data, diff, detailsOfLines(textOf(page, 'details').split('\n')));
}

function versionOf(page: Document): string | undefined {
  return (JSON.parse(textOf(page, 'version')) as string | null) ?? undefined;
}

function textOf(page: Document, id: string): string {
  return page.getElementById(id)?.textContent ?? 'null';
}

main();
