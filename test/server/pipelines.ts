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

/** Runs until it is ended. */
export const ENDLESS = pipeline('wait [shape=parallelogram, tool_command="sleep 60"]; start -> wait -> exit');
