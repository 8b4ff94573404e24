/** Shows the page over many runs. */
import { render } from 'preact';
import type { Trend } from '../../replay/reports/stats/trend.js';
import { App } from './app.js';

const place = document.getElementById('page');
if (place) render(<App trend={JSON.parse(document.getElementById('data')?.textContent ?? 'null') as Trend} />, place);
