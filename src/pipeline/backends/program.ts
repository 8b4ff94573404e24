/** Executes model calls by a known program: its command line is made of words, and its adapter reads the reply. graph-pipelines.md 7.3. */
import { isLikeOption, type ModelProgram, type ProgramSetting } from '../../calls/backends/program.js';
import { furtherWords } from '../../calls/backends/programs.js';
import { shellWords } from '../../../journal/shell-words.js';
import { graphAttribute, modelSettingsOf, nodeAttribute, toolsOf } from '../model/graph.js';
import { StageError } from '../model/outcome.js';
import type { Backend } from '../stage/backend.js';
import { outcomeInReply } from '../stage/outcome-contract.js';
import { readStageReply, reported } from '../stage/read-reply.js';
import { runStageCommand } from '../stage/run-stage-command.js';
import type { Stage } from '../stage/stage.js';
import { hasEndedWell } from '../../world/late-reply.js';
import { modelVariables } from './command.js';

/** The status by which a shell says that there is no such program. */
const NOT_FOUND = 127;

/** @param rest further words of the command line, separated by blanks */
export function programBackend(program: ModelProgram, rest: string): Backend {
  const { name } = program;
  const further = furtherWords(rest);
  return {
    name: rest === '' ? name : `${name}:${rest}`,
    commandLine: name,
    keepsConversations: true,
    readsOutcome: true,
    async execute(stage, frame, { text, contract, session }) {
      const words = program.words({ ...settingsFor(stage, program), session, words: further });
      const stdin = contract === undefined ? text : `${text}\n\n${contract}`;
      const result = await runStageCommand(stage, frame, words, { variables: modelVariables(stage), stdin });
      // A reply that it has while the run is being ended is paid for. A time limit and a branch that is called off want no reply any more.
      const isLate = frame.run.signal.aborted && hasEndedWell(result);
      if (stage.signal.aborted && !isLate) throw new StageError('transient', `${name} was ended`);
      if (result.exitCode === NOT_FOUND && result.stdout === '')
        throw new StageError('permanent', `the program ${name} was not found: install it, or name another backend`);
      const { read, report } = await readStageReply(stage, isLate ? { ...frame, deadline: undefined } : frame, result, {
        commandLine: shellWords(words),
        adapter: name,
      });
      const reply = read.text ?? '';
      const outcome = report ?? (contract === undefined ? undefined : await reported(() => outcomeInReply(reply)));
      return { reply, ...(outcome && { outcome }), ...(isName(read.session) && { session: read.session }) };
    },
  };
}

/** Behind `--resume`, a session such as `--yolo` would be an option: such a conversation is not continued. */
function isName(session: string | undefined): session is string {
  return session !== undefined && !isLikeOption(session);
}

/** Returns the settings of the node, without those that the program has no option for. */
function settingsFor({ run, node }: Stage, { name, lacks }: ModelProgram): Parameters<ModelProgram['words']>[0] {
  const { graph } = run.pipeline;
  const tools = toolsOf(graph, node);
  const isSet: { readonly [S in ProgramSetting]: boolean } = {
    effort: (nodeAttribute(node, 'reasoning_effort') ?? graphAttribute(graph, 'reasoning_effort')) !== undefined,
    tools: tools.length > 0,
  };
  for (const setting of lacks) if (isSet[setting]) run.warnOnce(`${name} has no option for ${WORDS[setting]}, so it is not passed on`);
  return { ...modelSettingsOf(graph, node), tools };
}

const WORDS: { readonly [S in ProgramSetting]: string } = { effort: 'the attribute reasoning_effort', tools: 'the attribute tools' };
