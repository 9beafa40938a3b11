import { createHash } from 'node:crypto';
import type { JsonValue } from '../../base/json.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { decideUserQuestion } from '../../policy/decide-question.ts';
import { askingTask, openQuestion } from '../questions/ask-person.ts';
import type { TaskRun } from '../task/task-run.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';
import { ArgumentReader } from './argument-reader.ts';

export interface AskUserInput {
  readonly question: string;
  readonly options: readonly string[];
}

const MOST_OPTIONS = 4;
/** In UTF-16 units: what a person is to read before they answer. */
const MOST_LENGTH = 4_000;

/** Asks the user, and waits for what they say. The question stands in the inbox beside all others. */
export function askUserTool(engine: EngineContext): Tool<AskUserInput> {
  return {
    name: 'AskUser',
    kind: 'meta',
    // Run again after a crash, it finds its question, and the answer where there is one.
    replay: 'keyed',
    waits: () => true,
    description:
      'Ask the user what only they can decide, and wait for the answer. Not for permission: tools ask for that themselves.',
    inputSchema: {
      type: 'object',
      properties: {
        question: { type: 'string', maxLength: MOST_LENGTH },
        options: {
          type: 'array',
          items: { type: 'string' },
          maxItems: MOST_OPTIONS,
          description: 'Answers to choose from; another text may come all the same',
        },
      },
      required: ['question'],
    },
    parse,
    run: (input, context) => ask(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<AskUserInput> {
  const args = new ArgumentReader(value, ['question', 'options'], {
    text: 'question',
    choices: 'options',
  });
  const question = args.text('question', 'a text');
  const options = args.texts('options', { most: MOST_OPTIONS });
  const length = [question, ...options].join('').length;
  if (length > MOST_LENGTH) {
    args.issues.push(
      `question: has ${length} characters, options counted; at most ${MOST_LENGTH} are taken, so ask it shorter`,
    );
  }
  return args.result({ question, options });
}

async function ask(
  engine: EngineContext,
  input: AskUserInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { inbox } = engine.deps;
  const caller = requireCaller(engine, context);
  const digest = createHash('sha256').update(JSON.stringify(input)).digest('hex');
  const { tree, state } = caller;
  for (;;) {
    const answer = answerTo(caller, { callId: context.callId, digest });
    if (answer !== null) return { text: answer };
    const refusal = decideUserQuestion(askingTask(caller));
    if (refusal !== null) return { text: refusal, error: 'PERMISSION_DENIED' };
    const question = openQuestion(caller, { callId: context.callId, digest }, (id) => ({
      kind: 'input',
      id,
      task: state.spec.id,
      callId: context.callId,
      chain: caller.chain(),
      tool: 'AskUser',
      text: input.question,
      options: input.options,
    }));
    await tree.idleDetector.trackWait(() => inbox.wait(caller, question));
  }
}

/** Null: none yet. */
function answerTo(
  run: TaskRun,
  { callId, digest }: { readonly callId: string; readonly digest: string },
): string | null {
  const asked = run.state.questions.get(callId);
  if (asked?.digest !== digest || asked.answer === null) return null;
  const { answer, seq } = asked.answer;
  const isHonoured = run.permissions.isTrusted(asked.seq) && run.permissions.isTrusted(seq);
  return answer.kind === 'text' && isHonoured ? answer.text : null;
}
