import { loadServerLogin, type LoginDialog, type LoginOutcome } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';

const STORES = ['auto', 'keychain', 'file'] as const;

/** `muster mcp login` */
export const mcpLoginCommand = defineCommand({
  words: 'mcp login',
  summary: 'log in to an MCP server that demands it, with the browser',
  operands: [{ name: 'NAME' }],
  flags: ['store', 'no-browser', 'cwd', 'data-dir'],
  flagDetails: {
    store: {
      help: 'where the tokens are kept: keychain (that of the system), file (in the data directory), or auto: the keychain if it works, otherwise the file (the default)',
    },
  },
  examples: ['muster mcp login issues'],
  parse: ({ operands: [name = ''], flags }) => ({
    name,
    store: flags.choice('store', STORES, 'auto'),
    opensBrowser: !flags.has('no-browser'),
    cwd: flags.text('cwd'),
    dataDir: flags.text('data-dir'),
  }),
  run: async ({ name, store, opensBrowser, ...place }, context) => {
    refuseAgents(context.environment, 'log in to an MCP server');
    const [{ stateLocation }, { logIn }] = await Promise.all([
      import('../../configuration.ts'),
      loadServerLogin(),
    ]);
    const { dialog, close } = await createDialog(name, { opensBrowser, context });
    try {
      const outcome = await logIn(name, stateLocation(place, context), { dialog, store });
      context.out(describeOutcome(name, outcome));
      return 0;
    } finally {
      close();
    }
  },
});

interface DialogOptions {
  readonly opensBrowser: boolean;
  readonly context: CommandContext;
}

async function createDialog(
  name: string,
  { opensBrowser, context: { err, environment, questions: start } }: DialogOptions,
): Promise<{ readonly dialog: LoginDialog; readonly close: () => void }> {
  const { findPageOpener, openPage } = await import('../../open-page.ts');
  const opener = opensBrowser ? findPageOpener(process.platform, environment) : null;
  let close = (): void => {};
  const dialog: LoginDialog = {
    showPage: ({ url, issuer }) => {
      const verb = opener === null ? 'Open this page' : 'This page is opened in your browser';
      err(`${verb} to log in to ${name} at ${sanitizeLine(issuer)}:\n  ${sanitizeLine(url)}\n`);
      if (opener !== null) {
        openPage(opener, url, () =>
          err('The browser could not be opened: open the page by hand.\n'),
        );
      }
    },
    askAddress:
      start === null
        ? null
        : async () => {
            const questions = await start();
            ({ close } = questions);
            try {
              return await questions.ask(
                'If your browser runs on another machine, paste the address that it could not open: ',
              );
            } finally {
              questions.close();
            }
          },
    warn: (line) => err(`${line}\n`),
  };
  return { dialog, close: () => close() };
}

function describeOutcome(
  name: string,
  { issuer, scope, isRenewable, place, keychainProblem, projectFile }: LoginOutcome,
): string {
  const scopes = scope === null ? '' : ` with the scopes ${sanitizeLine(scope)}`;
  return [
    ...(keychainProblem === null ? [] : [`The keychain is not used: ${keychainProblem}.`]),
    `Logged in to ${name} at ${sanitizeLine(issuer)}${scopes}.`,
    ...(projectFile === null
      ? []
      : [`Only the servers in ${sanitizeLine(projectFile)} use this login.`]),
    isRenewable
      ? 'Muster renews the tokens by itself.'
      : 'The token cannot be renewed: when it has expired, log in again.',
    `The tokens are in ${place}. Try them: muster mcp test ${name}`,
    '',
  ].join('\n');
}

/** `muster mcp logout` */
export const mcpLogoutCommand = defineCommand({
  words: 'mcp logout',
  summary: 'revoke and delete the tokens of a login to an MCP server',
  operands: [{ name: 'NAME' }],
  flags: ['cwd', 'data-dir'],
  examples: ['muster mcp logout issues', 'muster mcp logout https://issues.example/mcp'],
  parse: ({ operands: [name = ''], flags }) => ({
    name,
    cwd: flags.text('cwd'),
    dataDir: flags.text('data-dir'),
  }),
  run: async ({ name, ...place }, context) => {
    refuseAgents(context.environment, 'log out of an MCP server');
    const [{ stateLocation }, { logOut }] = await Promise.all([
      import('../../configuration.ts'),
      loadServerLogin(),
    ]);
    const { kind, problem } = await logOut(name, stateLocation(place, context));
    const lines = {
      none: `There is no login to ${name}.`,
      revoked: `Logged out of ${name}: the tokens are revoked and deleted.`,
      removed: `Logged out of ${name}: the tokens are deleted here.`,
    };
    context.out(`${lines[kind]}\n`);
    if (problem !== null) {
      context.err(`muster: The tokens may stay valid until they expire: ${problem}\n`);
    }
    return 0;
  },
});
