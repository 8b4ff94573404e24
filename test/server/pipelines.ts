/** Pipelines that the tests of the server send. */
import { pipeline } from '../support/pipeline-run.js';

export const QUICK = pipeline('a [prompt="one"]; start -> a -> exit', 'goal="a short one"');

/** Waits for a person. */
export const GATED = pipeline(
  `load [shape=parallelogram, tool_command="echo 4 cars"]
   warden [shape=hexagon, label="Open the field?"]
   start -> load -> warden
   warden -> exit [label="[O] Open"]
   warden -> load [label="[A] Again"]`,
);

/** A model stage whose program says what it cost. */
const REPLY = JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'two boats',
  total_cost_usd: 0.25,
  usage: { input_tokens: 1200, output_tokens: 34 },
  session_id: 's-1',
}).replaceAll('"', '\\"');
const PAID_STAGE = `a [prompt="one", backend="cmd:echo '${REPLY}'"]`;
export const PAID = pipeline(`${PAID_STAGE}; start -> a -> exit`);

/** Fails behind the paid stage until the file `tide` is there. */
export const PAID_AND_FAILED = pipeline(`${PAID_STAGE}; b [shape=parallelogram, tool_command="test -e tide"]; start -> a -> b -> exit`);

/** Runs until it is ended. */
export const ENDLESS = pipeline('wait [shape=parallelogram, tool_command="sleep 60"]; start -> wait -> exit');
