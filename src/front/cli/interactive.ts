import { loadSessions, loadUserSettings, type Session } from '../../api/index.ts';
import { UsageError } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import { refuseAgents, type CommandContext } from './command.ts';
import { type RunFlags, type PromptOptions, NO_PROMPT, NO_RESUMED_ID } from './run-options.ts';
import { toSessionOptions, runPrompt } from './run-prompt.ts';

/** Opens the terminal UI. Without a terminal it continues a conversation, or prints the help. */
export async function runInteractive(
  { run, hasFlags, isChoosing }: PromptOptions,
  context: CommandContext,
): Promise<number> {
  const { help, out } = context;
  if (process.stdin.isTTY === true && process.stdout.isTTY === true) {
    return openUi(run, isChoosing, context);
  }
  if (isChoosing) throw new UsageError(NO_RESUMED_ID);
  if (run.resume !== null) return runPrompt(run);
  if (hasFlags || run.prompt !== null) throw new UsageError(NO_PROMPT);
  out(await help());
  return 0;
}

async function openUi(
  run: RunFlags,
  isChoosing: boolean,
  context: CommandContext,
): Promise<number> {
  const { agent } = run;
  const isPlain = run.screenReader || wantsPlainLines(context.environment);
  const loading = loadUi(isPlain);
  const setup = userSetup(run, context);
  let { prompt } = run;
  let resume: UiRequest['resume'] = isChoosing ? 'choose' : run.resume;
  let kept: UiRequest['kept'] = null;
  for (;;) {
    const notices: string[] = [];
    const listener = { add: (line: string): void => void notices.push(line) };
    const session = createSession(run, resume !== null, listener);
    const [muster, open] = await Promise.all([session, loading]);
    try {
      const needsModel = resume === null && muster.offlineByDefault;
      if (needsModel && isPlain) {
        const { offerModel } = await import('./first-run.ts');
        const choice = await offerModel(notices.splice(0), run, context);
        if (choice === 'quit') return 0;
        if (choice === 'search again') continue;
      }
      // A user who has looked at the files of the project need not do so again after a restart.
      const needsTrust = muster.hasUntrustedFiles && kept === null;
      const dialogs = [
        ...(needsTrust ? (['trust'] as const) : []),
        ...(needsModel ? ([kept === null ? 'start' : 'start-again'] as const) : []),
      ];
      const outcome = await open(muster, {
        agent,
        resume,
        prompt,
        setup,
        dialogs: isPlain ? [] : dialogs,
        kept,
        notices,
        onOpened: (add) => {
          listener.add = add;
        },
      });
      if (typeof outcome === 'number') return outcome;
      kept = outcome;
      ({ prompt } = outcome);
      resume = outcome.id === null ? null : { id: outcome.id };
    } finally {
      await muster.close();
    }
  }
}

/** Returns the parts of the user's setup that the dialogs of the UI change, as the commands do. */
function userSetup(run: RunFlags, context: CommandContext): UiRequest['setup'] {
  const { environment } = context;
  return {
    async accounts() {
      refuseAgents(environment, 'store a key');
      const { loadAccountOptions } = await import('./commands/keys/login.ts');
      return loadAccountOptions(run, context);
    },
    settings: userSettings(run, context),
    async reviewTrust() {
      refuseAgents(environment, 'trust a project');
      const { openApprovals } = await import('./commands/trust/approvals.ts');
      const { describeProposal } = await import('./commands/trust/add.ts');
      const approvals = await openApprovals(run, context);
      const proposals = await approvals.propose([]);
      const usable = proposals.filter(({ grants }) => grants.problems.length === 0);
      return {
        lines: proposals.flatMap(describeProposal),
        count: usable.length,
        isPostponed: approvals.postponedOn(proposals) !== null,
        approve: () => approvals.approve(usable),
        postpone: () => {
          if (run.log) approvals.postpone(proposals);
        },
      };
    },
  };
}

/** Returns the settings of the user, which the UI shows and changes. Nothing is printed while the UI has the screen. */
function userSettings(run: RunFlags, context: CommandContext): UiRequest['setup']['settings'] {
  const load = async () => {
    const { configInputs } = await import('./configuration.ts');
    const { readConfig } = await import('../../config/load.ts');
    return readConfig(configInputs(run, { ...context, err: () => {} }));
  };
  return {
    async read() {
      const { listUserSettings } = await import('../../config/show.ts');
      const { describeConfigProblem } = await import('../../config/setting.ts');
      const loaded = await load();
      const problems = loaded.problems.map(describeConfigProblem);
      return { settings: listUserSettings(loaded), problems };
    },
    async change(key, text) {
      refuseAgents(context.environment, 'change the configuration');
      const { listUserSettings } = await import('../../config/show.ts');
      const { findOverride } = await import('../../config/change-setting.ts');
      const { describeChange } = await import('./commands/config-set.ts');
      const { changeUserSetting } = await loadUserSettings();
      const changed = await changeUserSetting(context, key, text);
      const loaded = await load();
      const override = findOverride(loaded, changed);
      const setting = listUserSettings(loaded).find((each) => each.key === changed.key);
      if (setting === undefined) throw new Error(`there is no setting ${changed.key}`);
      const done = describeChange(changed);
      return { setting, done: override === null ? done : `${done}, but ${override} comes first` };
    },
  };
}

async function createSession(
  run: RunFlags,
  isResuming: boolean,
  listener: { readonly add: (line: string) => void },
): Promise<Session> {
  const { maxTurns, worktree } = run;
  const { openSession } = await loadSessions();
  return openSession({
    ...(await toSessionOptions(run)),
    ...(maxTurns === null ? {} : { maxTurns }),
    ...(worktree === null ? {} : { worktree }),
    // A conversation can only continue in its log.
    ...(isResuming ? { log: true } : {}),
    ...(isResuming ? { mainAgent: null } : run.agent === null ? {} : { mainAgent: run.agent }),
    questions: 'wait',
    attended: true,
    // Draw the screen first: what preloading prepares is needed only after the user has typed a message.
    preload: false,
    onNotice: (line) => listener.add(line),
  });
}

/** Whether the user asked for plain lines, or the terminal cannot show a screen. */
function wantsPlainLines({ MUSTER_SCREEN_READER: wanted = '', TERM }: Environment): boolean {
  return (wanted !== '' && wanted !== '0') || TERM === 'dumb';
}

/** The request with which the UI is opened. */
type UiRequest = Parameters<Awaited<ReturnType<typeof loadUi>>>[1];

async function loadUi(isPlain: boolean) {
  return isPlain
    ? (await import('../tui/plain/run-plain.ts')).runPlain
    : (await import('../tui/tui.ts')).runTui;
}
