import { askForTool } from '../questions/ask-person.ts';
import { argumentsSchema, ArgumentReader } from './argument-reader.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Tool, ToolContext, ToolOutput, ValidationResult } from '../../protocol/tool.ts';
import { decideUserQuestion } from '../../policy/decide-question.ts';
import { type EngineContext, requireCaller } from '../delegation/engine-context.ts';

/** The input of AskUser. */
export interface AskUserInput {
  readonly question: string;
  readonly options: readonly string[];
}

const MAX_OPTIONS = 4;
/** The maximum length of a question with its options, in UTF-16 units. A person has to read them. */
const MAX_LENGTH = 4_000;

/**
 * Creates the tool that asks the user a question and waits for the answer. The question is in the inbox, like all
 * others.
 */
export function askUserTool(engine: EngineContext): Tool<AskUserInput> {
  return {
    name: 'AskUser',
    kind: 'meta',
    // A call that runs again after a crash finds its question, with the answer if there is one.
    replay: 'keyed',
    waits: () => true,
    description:
      'Ask the user what only they can decide. Not for permission: tools ask for that themselves.',
    inputSchema: argumentsSchema(['question'], {
      question: { type: 'string' },
      options: {
        type: 'array',
        items: { type: 'string' },
        maxItems: MAX_OPTIONS,
        description: 'answers to choose from; the user may give another',
      },
    }),
    parse,
    run: (input, context) => askQuestion(engine, input, context),
  };
}

function parse(value: JsonValue): ValidationResult<AskUserInput> {
  const args = new ArgumentReader(value, ['question', 'options'], {
    text: 'question',
    choices: 'options',
  });
  const question = args.text('question', 'a text');
  const options = args.texts('options', { max: MAX_OPTIONS });
  const length = [question, ...options].join('').length;
  if (length > MAX_LENGTH) {
    args.issues.push(
      `question: has ${length} characters, options counted; at most ${MAX_LENGTH} are taken, so ask it shorter`,
    );
  }
  return args.result({ question, options });
}

function askQuestion(
  engine: EngineContext,
  input: AskUserInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { question: text, options } = input;
  return askForTool(engine.deps, requireCaller(engine, context), {
    callId: context.callId,
    content: JSON.stringify(input),
    output: (answer) => (answer?.kind === 'text' ? { text: answer.text } : null),
    refuse: decideUserQuestion,
    createQuestion: (common) => ({ kind: 'input', ...common, tool: 'AskUser', text, options }),
  });
}
