import { MusterError } from '../../base/errors.ts';
import type { CommandContext } from './command.ts';
import { signInWithQuestions } from './commands/keys/login.ts';
import type { Questions } from './terminal.ts';

/** The next step after the offer. `search again`: there may be a model now. */
export type FirstRunChoice = 'search again' | 'offline' | 'quit';

const NOT_FOUND =
  'Muster found no model: the environment has no key of a known provider, no account is signed in, and neither Ollama nor LM Studio runs on this machine with a model.';

const OFFER = `
  1  sign in to a provider with an API key
  2  use a local server: start Ollama or LM Studio with a model, then choose 2
  3  go on without a model: the offline search answers questions about the files here, and writes no code
     (always: set default = "offline" under [models] in the configuration)
`;

/**
 * Offers a person at a terminal the ways to get a model.
 *
 * @param problems what was found but cannot be used
 */
export async function offerModel(
  problems: readonly string[],
  { dataDir }: { readonly dataDir: string | null },
  context: CommandContext,
): Promise<FirstRunChoice> {
  const { err, questions: start } = context;
  if (start === null) return 'offline';
  err(`${[NOT_FOUND, ...problems].join('\n')}\n${OFFER}\n`);
  for (;;) {
    const questions = await start();
    const choice = await askChoice(questions).finally(() => questions.close());
    if (choice !== 'sign in') return choice;
    if (await signIn(dataDir, context)) return 'search again';
  }
}

const CHOICES: ReadonlyMap<string, 'sign in' | FirstRunChoice> = new Map([
  ['1', 'sign in'],
  ['2', 'search again'],
  ['3', 'offline'],
]);

async function askChoice(questions: Questions): Promise<'sign in' | FirstRunChoice> {
  for (;;) {
    const answer = await questions.ask('Choose 1, 2 or 3 (Ctrl+D quits): ');
    const choice = answer === null ? 'quit' : CHOICES.get(answer);
    if (choice !== undefined) return choice;
  }
}

/** Signs in as `muster login` does. Returns false if no key was stored; the person has been told why. */
async function signIn(dataDir: string | null, context: CommandContext): Promise<boolean> {
  try {
    return (await signInWithQuestions({ dataDir }, context)) === 0;
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    context.err(`muster: ${thrown.message}\n`);
    return false;
  }
}
