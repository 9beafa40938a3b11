import { resolve } from 'node:path';
import { loadDefinitions, EXAMPLE_AGENTS, type NewAgent } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { TIERS } from '../../../../protocol/model.ts';
import { defineReportCommand, type CommandArguments, type CommandContext } from '../../command.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import type { Questions } from '../../terminal.ts';
import { MODEL_VALUES } from '../../completion-values.ts';
import { formatShortPath } from './format.ts';
import {
  AGENT_DIRECTORIES,
  agentsLocation,
  agentsOptions,
  nextSteps,
  REPLACE_FILES,
  targetOptions,
  TRUST_DATA_DIR,
} from './location.ts';

type NewAgentOptions = ReturnType<typeof parseNewAgent>;

/** `muster agents new`: writes a file that passes `muster agents check`. */
export const agentsNewCommand = defineReportCommand({
  words: 'agents new',
  summary: 'write a new agent; asks at the terminal for what no flag says',
  operands: [{ name: '[NAME]' }],
  flags: [
    'description',
    'tools',
    'model',
    'mode',
    'prompt',
    'prompt-file',
    'from',
    'to',
    'force',
    'json',
    ...PROJECT_FLAGS,
    'data-dir',
  ],
  flagDetails: {
    model: {
      help: 'what its file asks for: a tier (fast, balanced, powerful), provider/model, a model id, auto, or inherit (the default)',
      completes: { ...MODEL_VALUES, words: ['inherit', ...TIERS] },
    },
    from: {
      value: 'NAME',
      group: 'Agents and models',
      help: 'the agent, or example (deepresearch, code), that it is copied from; other flags override the copy',
      completes: { words: EXAMPLE_AGENTS, found: 'agents' },
    },
    to: AGENT_DIRECTORIES,
    force: REPLACE_FILES,
    'data-dir': TRUST_DATA_DIR,
  },
  examples: [
    'muster agents new',
    'muster agents new migrations --description "Reviews database migrations. Use after a change to the schema." --tools "Read, Grep, Glob" --prompt-file prompt.md',
    'muster agents new my-explore --from Explore --model balanced --to user',
    'muster agents new research --from deepresearch',
  ],
  parse: parseNewAgent,
  run: async (options, context) => {
    const { to, force } = options;
    const newAgent = await completeRequest(options, context);
    const { createAgent } = await loadDefinitions();
    const created = await createAgent({
      ...agentsLocation(options, context),
      newAgent,
      to,
      force,
    });
    const lines = [
      `${sanitizeLine(created.name)}: ${formatShortPath(created.path, context.cwd, context.home)}`,
      ...created.findings.map(({ message }) => `  ! ${sanitizeLine(message)}`),
      ...nextSteps([created], context),
    ];
    return { json: created, text: lines.map((line) => `${line}\n`).join('') };
  },
});

function parseNewAgent({ operands, flags }: CommandArguments) {
  const [name = null] = operands;
  const [prompt, promptFile] = [flags.text('prompt'), flags.text('prompt-file')];
  if (prompt !== null && promptFile !== null) {
    throw new UsageError('--prompt and --prompt-file are two prompts; give one of them');
  }
  return {
    ...agentsOptions(flags),
    name,
    description: flags.text('description'),
    tools: flags.text('tools'),
    model: flags.text('model'),
    mode: flags.text('mode'),
    prompt,
    promptFile,
    from: flags.text('from'),
    ...targetOptions(flags),
  };
}

/** Returns the agent to create. Asks a person for the parts that the flags do not give. */
async function completeRequest(
  options: NewAgentOptions,
  { cwd, questions: start }: CommandContext,
): Promise<NewAgent> {
  const { description, tools, model, mode, from, promptFile } = options;
  const { readPromptFile } = await loadDefinitions();
  const prompt =
    promptFile === null ? options.prompt : await readPromptFile(resolve(cwd, promptFile));
  const given = { name: options.name, description, tools, model, mode, prompt, from };
  const missing = missingParts(given);
  if (missing.length === 0) return { ...given, name: options.name ?? '' };
  if (start === null || options.json) {
    throw new UsageError(
      `a new agent needs ${missing.join(', ')}${start === null ? '; there is no terminal to ask on' : ''}: muster agents new NAME --description TEXT --prompt TEXT`,
    );
  }
  const questions = await start();
  try {
    return await askForMissing(given, questions);
  } finally {
    questions.close();
  }
}

interface GivenParts extends Omit<NewAgent, 'name'> {
  readonly name: string | null;
}

/** Lists the required parts that are missing. For a copy of another agent only the name is required. */
function missingParts({ name, description, prompt, from }: GivenParts): readonly string[] {
  return [
    ...(name === null ? ['NAME'] : []),
    ...(description === null && from === null ? ['--description'] : []),
    ...(prompt === null && from === null ? ['--prompt or --prompt-file'] : []),
  ];
}

async function askForMissing(given: GivenParts, questions: Questions): Promise<NewAgent> {
  const name = given.name ?? (await required(questions, 'Name (as in: migrations): '));
  if (given.from !== null) return { ...given, name };
  return {
    ...given,
    name,
    description:
      given.description ??
      (await required(questions, 'What it does and when to use it, in a sentence or two: ')),
    tools:
      given.tools ??
      ((await questions.ask('Tools, as in Read, Grep, Glob (nothing: the core set): ')) || null),
    model:
      given.model ??
      ((await questions.ask("Model: fast, balanced, powerful (nothing: its parent's): ")) || null),
    prompt:
      given.prompt ??
      (await required(questions, 'Its instructions (you can write more into the file later): ')),
  };
}

/** Asks until the answer is not empty. Throws UsageError at the end of the input. */
async function required(questions: Questions, question: string): Promise<string> {
  for (;;) {
    const answer = await questions.ask(question);
    if (answer === null)
      throw new UsageError('nothing was written: the questions were not answered');
    if (answer !== '') return answer;
  }
}
