import {
  loadAccounts,
  type AccountOptions,
  type AccountReport,
  type KeyStoreChoice,
  type ProviderToSignIn,
  type SignIn,
  type StoredKey,
} from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { sortByNearness } from '../../../../base/name-suggestions.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import {
  defineCommand,
  refuseAgents,
  type CommandArguments,
  type CommandContext,
} from '../../command.ts';
import { columns } from '../../layout.ts';
import type { DataOptions } from '../../run-options.ts';

type LoginOptions = ReturnType<typeof parseLogin>;

const KEY_STORES: readonly KeyStoreChoice[] = ['auto', 'keychain', 'file'];

/** `muster login`: the exit code is 1 if the provider refuses the key. */
export const loginCommand = defineCommand({
  words: 'login',
  summary: 'try the key of a provider and store it; --list: the accounts whose keys are stored',
  operands: [{ name: '[PROVIDER]', completes: { found: 'providers' } }],
  flags: ['account', 'store', 'base-url', 'no-check', 'list', 'json', 'data-dir'],
  flagDetails: {
    list: { help: 'list the accounts that are stored, without their keys', group: 'Keys' },
    json: { help: 'with --list: print JSON' },
    'data-dir': { help: 'where accounts and keys are kept' },
  },
  examples: [
    'muster login openrouter',
    'muster login openrouter < key.txt',
    'muster login openrouter --account work',
    'muster login corp --base-url https://llm.corp.example/v1',
    'muster login --list',
  ],
  parse: parseLogin,
  run: async (options, context) => {
    if (options.list) return printAccounts(options, context);
    refuseAgents(context.environment, 'store a key');
    const location = await loadAccountOptions(options, context);
    const provider = options.provider ?? (await askProvider(location, context));
    const { account, baseUrl } = options;
    const { prepareSignIn } = await loadAccounts();
    const signIn = prepareSignIn({ provider, account, baseUrl }, location);
    for (const warning of signIn.warnings) context.err(`muster: ${warning}\n`);
    const key = signIn.parse(await readKey(signIn, context));
    if (options.isChecked && !(await isAccepted(key, signIn, context))) return 1;
    const storing = signIn.store(key, options.store);
    const stored = await announceSlowWork(
      storing,
      'Waiting for the keychain. It may have to be unlocked.',
      context,
    );
    context.out(outcome(signIn, stored));
    return 0;
  },
});

/** Asks which provider to use and for its key, and stores the key. Resolves to the exit code. */
export async function signInWithQuestions(
  { dataDir }: DataOptions,
  context: CommandContext,
): Promise<number> {
  const options: LoginOptions = {
    provider: null,
    list: false,
    json: false,
    account: null,
    store: 'auto',
    baseUrl: null,
    isChecked: true,
    dataDir,
  };
  return await loginCommand.run(options, context);
}

function parseLogin({ operands, flags }: CommandArguments) {
  const [provider = null] = operands;
  const [list, json] = [flags.has('list'), flags.has('json')];
  if (json && !list) throw new UsageError('--json goes with --list: muster login --list --json');
  if (list && provider !== null) {
    throw new UsageError('--list lists all accounts; leave the provider out');
  }
  return {
    provider,
    list,
    json,
    account: flags.text('account'),
    store: flags.choice('store', KEY_STORES, 'auto'),
    baseUrl: flags.text('base-url'),
    isChecked: !flags.has('no-check'),
    dataDir: flags.text('data-dir'),
  };
}

/** Loads the user's own configuration, since a project's file cannot say anything about keys. */
export async function loadAccountOptions(
  options: DataOptions,
  context: CommandContext,
): Promise<AccountOptions> {
  const { configInputs, stateLocation } = await import('../../configuration.ts');
  const { loadConfig } = await import('../../../../config/load.ts');
  const { dataDir } = options;
  const inputs = configInputs({ cwd: null, trustProject: false, dataDir, flags: [] }, context);
  return {
    loaded: await loadConfig(inputs),
    state: stateLocation({ cwd: null, dataDir }, context),
  };
}

async function printAccounts(
  { json, ...options }: LoginOptions,
  context: CommandContext,
): Promise<number> {
  const { listAccounts } = await loadAccounts();
  const { file, accounts } = listAccounts(await loadAccountOptions(options, context));
  if (json) context.out(`${toPrintableJson(accounts, 2)}\n`);
  else if (accounts.length === 0) context.out('No account is stored: muster login PROVIDER\n');
  else context.out(`${columns(accounts.map(accountRow))}\nThe list is in ${file}\n`);
  return 0;
}

function accountRow(report: AccountReport): readonly string[] {
  const { provider, account, store, addedOn, baseUrl, overriddenBy } = report;
  return [
    provider,
    account,
    store === 'keychain' ? 'key in the keychain' : 'key in the file',
    `since ${addedOn.slice(0, 10)}`,
    [
      ...(baseUrl === null ? [] : [`only for ${baseUrl}`]),
      ...(overriddenBy === null ? [] : [`not used: ${overriddenBy} comes first`]),
    ].join('; '),
  ];
}

/** Lists the providers and asks for one. */
async function askProvider(
  location: AccountOptions,
  { out, err, questions: start }: CommandContext,
): Promise<string> {
  const { listProvidersToSignIn } = await loadAccounts();
  const providers = listProvidersToSignIn(location);
  out(`${columns(providers.map(providerRow))}\n`);
  if (start === null) {
    throw new UsageError('name the provider: muster login PROVIDER < key.txt');
  }
  const questions = await start();
  try {
    for (;;) {
      const answer = await questions.ask('Provider (number or name): ');
      if (answer === null) throw new UsageError('no provider was chosen');
      if (answer === '') continue;
      const chosen = findProvider(answer, providers);
      if (chosen !== undefined) return chosen.facts.name;
      const names = providers.map(({ facts }) => facts.name);
      const [nearest = ''] = sortByNearness(answer, names);
      err(
        `There is no provider ${JSON.stringify(answer)}. Do you mean ${nearest}? For another server: muster login NAME --base-url URL\n`,
      );
    }
  } finally {
    questions.close();
  }
}

function findProvider(
  answer: string,
  providers: readonly ProviderToSignIn[],
): ProviderToSignIn | undefined {
  if (/^\d+$/.test(answer)) return providers[Number(answer) - 1];
  const wanted = answer.toLowerCase();
  return providers.find(({ facts: { name, title } }) =>
    [name, title].some((each) => each.toLowerCase() === wanted),
  );
}

function providerRow(
  { facts: { name, title, keyPage, isLocal }, keyFrom }: ProviderToSignIn,
  index: number,
): readonly string[] {
  const note = isLocal ? 'needs no key by default' : 'no key';
  return [
    `${index + 1}`.padStart(2),
    name,
    title === name ? '' : title,
    keyFrom === null ? note : `key: ${keyFrom}`,
    keyPage ?? '',
  ];
}

/** Asks for the key, or reads it from stdin. */
async function readKey(
  { provider: { name, title, keyPage }, baseUrl }: SignIn,
  { err, secret }: CommandContext,
): Promise<string> {
  if (secret === null) {
    const { readAll } = await import('../../stdin.ts');
    return readAll(`muster login ${name} < key.txt`);
  }
  const page = keyPage === null ? '' : `Create a key on ${keyPage}\n`;
  err(`${page}The key will be sent to ${baseUrl}\n`);
  const answer = await secret(`API key of ${title} (what you type is not shown): `);
  if (answer === null) throw new UsageError('no key was given, so nothing is stored');
  return answer;
}

/** Tries the key. Returns false if it is not to be stored. */
async function isAccepted(
  key: string,
  { provider: { title }, check }: SignIn,
  { out, err, secret, confirm }: CommandContext,
): Promise<boolean> {
  const checked = await announceSlowWork(check(key), `Waiting for ${title} …`, { err });
  switch (checked.kind) {
    case 'accepted':
      out(`${title} accepts the key.${checked.note === null ? '' : ` It adds: ${checked.note}`}\n`);
      return true;
    case 'refused':
      err(
        `muster: ${title} refuses the key: ${checked.message}\nmuster: Nothing was stored; an earlier key stays as it was.\n`,
      );
      return false;
    case 'undecided': {
      err(`muster: The key could not be tried: ${checked.message}\n`);
      if (secret !== null && confirm !== null && (await confirm('Store it anyway? [y/N] '))) {
        return true;
      }
      err('muster: Nothing was stored. To store a key without trying it, add --no-check.\n');
      return false;
    }
    default:
      return checked satisfies never;
  }
}

function outcome(
  { provider, account, baseUrl, hasDefaultModel }: SignIn,
  { store, file, keychainProblem, isOldKeyLeft, overriddenBy }: StoredKey,
): string {
  const place =
    store === 'keychain' ? 'the keychain of the system' : `${file}, which only you can read`;
  const isDefault = account === 'default';
  const model = hasDefaultModel ? '' : ` --model ${provider.name}/MODEL`;
  return [
    ...(keychainProblem === null ? [] : [`The keychain is not used: ${keychainProblem}.`]),
    `The key is in ${place}${isDefault ? '' : `, as the account "${account}"`}.`,
    ...(isOldKeyLeft ? ['The earlier key of this account is still in the keychain.'] : []),
    ...(overriddenBy === null
      ? []
      : [describeOverride({ provider, account, baseUrl }, overriddenBy)]),
    '',
    'Next: "muster models" lists the models, and this asks one of them:',
    `  muster -p "What does this project do?"${model}`,
    '',
  ].join('\n');
}

function describeOverride(
  { provider, account, baseUrl }: Pick<SignIn, 'provider' | 'account' | 'baseUrl'>,
  overriddenBy: string,
): string {
  const isAccount = overriddenBy.startsWith('the account ');
  // A provider that is not known has no address before the configuration names it.
  const address = provider.keyPage === null ? `base_url = "${baseUrl}" and ` : '';
  const remedy = isAccount
    ? `to use this account, set ${address}account = "${account}" in [models.providers.${provider.name}]`
    : 'remove it to use this account';
  return `${overriddenBy} comes first: ${remedy}.`;
}

/** The time after which a line says what Muster is waiting for. */
const SLOW_MS = 2_000;

/** Settles like `work`, and writes a line to stderr if that takes long. */
async function announceSlowWork<T>(
  work: Promise<T>,
  line: string,
  { err }: Pick<CommandContext, 'err'>,
): Promise<T> {
  const timer = setTimeout(() => err(`${line}\n`), SLOW_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
