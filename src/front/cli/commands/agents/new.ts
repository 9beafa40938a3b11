import { resolve } from 'node:path';
import { createAgent, type AgentRequest } from '../../../../api/agents/create.ts';
import { readPromptFile } from '../../../../api/agents/prompt-file.ts';
import { UsageError } from '../../../../base/errors.ts';
import { jsonText } from '../../../../base/json-text.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import type { AgentsCommand } from '../../command.ts';
import type { Questions } from '../../questions.ts';
import type { CommandContext } from '../context.ts';
import { nextStep } from './next-step.ts';
import { agentsPlace } from './place.ts';
import { shownPath } from './words.ts';

export interface NewAgentContext extends CommandContext {
  /** Begins to ask a person; null: there is no terminal to ask on. */
  readonly questions: (() => Questions) | null;
}

type AgentsNew = Extract<AgentsCommand, { kind: 'agents-new' }>;

/** `muster agents new`: writes a file that `muster agents check` has nothing against. */
export async function newAgentCommand(
  command: AgentsNew,
  context: NewAgentContext,
): Promise<number> {
  const { to, force } = command;
  const wish = await wishOf(command, context);
  const created = await createAgent({ ...agentsPlace(command, context), wish, to, force });
  if (command.json) {
    context.out(`${jsonText(created, 2)}\n`);
    return 0;
  }
  const lines = [
    `${exactLine(created.name)}: ${shownPath(created.path, context.cwd, context.home)}`,
    ...created.findings.map(({ message }) => `  ! ${exactLine(message)}`),
    ...nextStep([created], context),
  ];
  context.out(lines.map((line) => `${line}\n`).join(''));
  return 0;
}

async function wishOf(command: AgentsNew, context: NewAgentContext): Promise<AgentRequest> {
  const { description, tools, model, mode, from, promptFile } = command;
  const prompt =
    promptFile === null ? command.prompt : await readPromptFile(resolve(context.cwd, promptFile));
  const said = { name: command.name, description, tools, model, mode, prompt, from };
  const missing = missingFlags(said);
  if (missing.length === 0) return { ...said, name: command.name ?? '' };
  if (context.questions === null || command.json) {
    throw new UsageError(
      `a new agent needs ${missing.join(', ')}${context.questions === null ? '; there is no terminal to ask on' : ''}: muster agents new NAME --description TEXT --prompt TEXT`,
    );
  }
  const questions = context.questions();
  try {
    return await askFor(said, questions);
  } finally {
    questions.close();
  }
}

interface Said extends Omit<AgentRequest, 'name'> {
  readonly name: string | null;
}

/** What it is made from brings the rest. */
function missingFlags({ name, description, prompt, from }: Said): readonly string[] {
  return [
    ...(name === null ? ['NAME'] : []),
    ...(description === null && from === null ? ['--description'] : []),
    ...(prompt === null && from === null ? ['--prompt or --prompt-file'] : []),
  ];
}

/** Only what no flag has said. */
async function askFor(said: Said, questions: Questions): Promise<AgentRequest> {
  const name = said.name ?? (await required(questions, 'Name (as in: migrations): '));
  if (said.from !== null) return { ...said, name };
  return {
    ...said,
    name,
    description:
      said.description ??
      (await required(questions, 'What it does and when to use it, in a sentence or two: ')),
    tools:
      said.tools ??
      ((await questions.ask('Tools, as in Read, Grep, Glob (nothing: the core set): ')) || null),
    model:
      said.model ??
      ((await questions.ask("Model: fast, balanced, powerful (nothing: its parent's): ")) || null),
    prompt:
      said.prompt ??
      (await required(questions, 'What it is told to do (write more into the file later): ')),
  };
}

async function required(questions: Questions, question: string): Promise<string> {
  for (;;) {
    const answer = await questions.ask(question);
    if (answer === null)
      throw new UsageError('nothing was written: the questions were not answered');
    if (answer !== '') return answer;
  }
}
