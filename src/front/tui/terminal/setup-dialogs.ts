import type { UserSettings } from '../model/user-settings.ts';
import { loadAccounts, type AccountOptions, type SignIn } from '../../../api/index.ts';
import { projectMemoryFile, userMemoryFile, writeNote } from './memory-file.ts';
import { errorMessage } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import {
  choiceDialog,
  TypedSecret,
  type Dialog,
  type DialogSubject,
  type StartDialog,
} from '../model/dialog.ts';

/** The project's files that wait for the user's trust. */
export interface TrustReview {
  /** The effects of each file, as `muster trust add` prints them. */
  readonly lines: readonly string[];
  /** The number of files that can be trusted. */
  readonly count: number;
  /** Whether the user has postponed the review of exactly this content. */
  readonly isPostponed: boolean;
  /** Trusts exactly the content that was reviewed. Throws MusterError. */
  readonly approve: () => void;
  /** Remembers that the user does not want this review until something changes. Throws MusterError. */
  readonly postpone: () => void;
}

/** The parts of the user's own setup that the UI can change. */
export interface UserSetup {
  /** Reads the user's configuration for a sign-in. Rejects with MusterError if no key may be stored here. */
  readonly accounts: () => Promise<AccountOptions>;
  readonly reviewTrust: () => Promise<TrustReview>;
  readonly settings: UserSettings;
}

interface SetupDialogsOptions {
  readonly setup: UserSetup;
  readonly show: (dialog: Dialog | null) => void;
  readonly note: (level: 'info' | 'warning', text: string) => void;
  readonly cwd: string;
  /** Opens Muster again, so that a change applies. `done` says what has changed. */
  readonly restart: (done: string) => void;
}

/** Runs the dialogs that sign in to a provider and that trust the files of the project. */
export class SetupDialogs {
  private readonly options: SetupDialogsOptions;
  private signIn: SignIn | null = null;
  private review: TrustReview | null = null;
  /** The key that could not be tested and waits for the user's decision. */
  /** Whether the key is asked for a provider that was chosen from the list. */
  private hasList = false;
  private untested: TypedSecret | null = null;
  private waitingNote = '';
  /** Counts the dialogs that were cancelled, so that a late result opens none. */
  private cancelled = 0;

  constructor(options: SetupDialogsOptions) {
    this.options = options;
  }

  /** Opens a dialog. `argument` is the name of a provider for a sign-in; empty to choose one. Never rejects. */
  async open(subject: StartDialog | 'login' | 'note', argument: string): Promise<void> {
    await this.attempt(async () => {
      if (subject === 'start') return START;
      if (subject === 'start-again') return { ...START, title: 'Muster found no model again' };
      if (subject === 'note') return this.askForFile(argument);
      if (subject === 'trust') return this.openReview({ isWanted: argument !== '' });
      this.hasList = argument === '';
      return this.hasList ? this.chooseProvider() : this.askKey(argument, []);
    });
  }

  /** Handles an answer. Never rejects. */
  async answer(subject: DialogSubject, answer: TypedSecret): Promise<void> {
    await this.attempt(async () => {
      switch (subject) {
        case 'start':
          return this.choose(answer.reveal());
        case 'provider':
          return this.askKey(answer.reveal(), []);
        case 'key':
          return this.testKey(answer);
        case 'untested-key':
          return answer.reveal() === 'store' && this.untested !== null
            ? this.storeKey(this.untested)
            : this.askKey(this.signIn?.provider.name ?? '', []);
        case 'setting':
          // Another part of the UI takes this answer.
          return null;
        case 'note':
          return this.writeNote(answer.reveal() === 'user' ? 'user' : 'project');
        case 'trust':
          return this.decideTrust(answer.reveal() === 'trust');
        default:
          return subject satisfies never;
      }
    });
  }

  /** The user has closed the dialog. */
  cancel(): void {
    this.cancelled += 1;
    this.untested = null;
  }

  /** Shows the dialog that `step` returns. An error becomes a note. */
  private async attempt(step: () => Promise<Dialog | null> | Dialog): Promise<void> {
    const before = this.cancelled;
    const { show, note } = this.options;
    try {
      const dialog = await step();
      if (this.cancelled === before) show(dialog);
    } catch (thrown) {
      if (this.cancelled === before) show(null);
      note('warning', errorMessage(thrown));
    }
  }

  private choose(choice: string): Promise<Dialog | null> | null {
    if (choice === 'sign-in') {
      this.hasList = true;
      return this.chooseProvider();
    }
    if (choice === 'again') this.options.restart('looked for a model again');
    return null;
  }

  private async chooseProvider(): Promise<Dialog> {
    const { listProvidersToSignIn } = await loadAccounts();
    const providers = listProvidersToSignIn(await this.options.setup.accounts());
    return choiceDialog({
      subject: 'provider',
      title: 'Sign in to a provider',
      lines: ['For another server: muster login NAME --base-url URL'],
      options: providers.map(({ facts: { name, title, isLocal }, keyFrom }) => ({
        value: name,
        label: name,
        help: [
          ...(title === name ? [] : [title]),
          keyFrom === null ? (isLocal ? 'needs no key by default' : 'no key') : `key: ${keyFrom}`,
        ].join(' · '),
      })),
    });
  }

  private async askKey(name: string, problems: readonly string[]): Promise<Dialog> {
    const accounts = await this.options.setup.accounts();
    const { prepareSignIn } = await loadAccounts();
    const signIn = prepareSignIn({ provider: name, account: null, baseUrl: null }, accounts);
    this.signIn = signIn;
    const { title, keyPage } = signIn.provider;
    return {
      kind: 'secret',
      subject: 'key',
      title: `API key of ${title}`,
      lines: [
        ...problems,
        ...signIn.warnings,
        ...(keyPage === null ? [] : [`Create a key on ${keyPage}`]),
        `The key will be sent to ${signIn.baseUrl}`,
      ],
      secret: new TypedSecret(),
      hasList: this.hasList,
    };
  }

  private async testKey(typed: TypedSecret): Promise<Dialog | null> {
    const { signIn } = this;
    if (signIn === null) return null;
    const { name, title } = signIn.provider;
    const before = this.cancelled;
    let key: string;
    try {
      key = signIn.parse(typed.reveal());
    } catch (thrown) {
      return this.askKey(name, [errorMessage(thrown)]);
    }
    const checked = await signIn.check(key);
    if (this.cancelled !== before) return null;
    if (checked.kind === 'accepted') return this.storeKey(new TypedSecret(key));
    if (checked.kind === 'refused') {
      return this.askKey(name, [
        `${title} refuses the key: ${checked.message}`,
        'Nothing was stored; an earlier key stays as it was.',
      ]);
    }
    this.untested = new TypedSecret(key);
    return choiceDialog({
      subject: 'untested-key',
      title: `The key of ${title} could not be tested`,
      lines: [checked.message],
      options: [
        { value: 'again', label: 'type it again', help: '' },
        { value: 'store', label: 'store it anyway', help: 'without a test' },
      ],
    });
  }

  private async storeKey(key: TypedSecret): Promise<null> {
    const { signIn } = this;
    this.untested = null;
    if (signIn === null) return null;
    const { store, file, keychainProblem, overriddenBy } = await signIn.store(key.reveal(), 'auto');
    const { note, restart } = this.options;
    if (keychainProblem !== null) note('info', `The keychain is not used: ${keychainProblem}.`);
    if (overriddenBy !== null) {
      note('warning', `${overriddenBy} comes first: remove it to use this key`);
    }
    const place = store === 'keychain' ? 'the keychain of the system' : file;
    restart(`signed in to ${signIn.provider.title}; the key is in ${place}`);
    return null;
  }

  private askForFile(note: string): Dialog {
    this.waitingNote = note;
    return choiceDialog({
      subject: 'note',
      title: 'Where should this be kept?',
      lines: [`- ${note}`],
      options: [
        { value: 'project', label: 'Project', help: projectMemoryFile(this.options.cwd).path },
        { value: 'user', label: 'Every project', help: userMemoryFile().path },
      ],
    });
  }

  private async writeNote(scope: 'project' | 'user'): Promise<null> {
    const done = await writeNote({ note: this.waitingNote, scope }, this.options.cwd);
    this.options.note('info', done);
    return null;
  }

  /** `isWanted`: the user has asked for the review. Otherwise a review that was postponed is left out. */
  private async openReview({ isWanted }: { readonly isWanted: boolean }): Promise<Dialog | null> {
    const review = await this.options.setup.reviewTrust();
    this.review = review;
    if (review.isPostponed && !isWanted) return null;
    if (review.lines.length === 0) {
      this.options.note('info', 'nothing in this project waits for your trust');
      return null;
    }
    const { count } = review;
    const what = count === 1 ? 'this file' : `these ${plural(count, 'file')}`;
    const trust = { value: 'trust', label: 'Trust', help: `${what}, with exactly this content` };
    return choiceDialog({
      subject: 'trust',
      title: 'This project has files that change what Muster does',
      lines: review.lines,
      options: [
        {
          value: 'later',
          label: 'Not now',
          help: 'work without them; asks again when one of them changes, or with /trust',
        },
        ...(count === 0 ? [] : [trust]),
      ],
    });
  }

  private decideTrust(isTrusted: boolean): null {
    const { review } = this;
    if (review === null) return null;
    if (!isTrusted) {
      review.postpone();
      return null;
    }
    review.approve();
    this.options.restart(`trusted ${plural(review.count, 'file')} of this project`);
    return null;
  }
}

const START = choiceDialog({
  subject: 'start',
  title: 'Muster found no model',
  lines: [
    'The environment has no key of a known provider, no account is signed in, and neither Ollama nor LM Studio runs on this machine with a model.',
  ],
  options: [
    { value: 'sign-in', label: 'Sign in', help: 'to a provider, with an API key' },
    {
      value: 'again',
      label: 'Use a local server',
      help: 'start Ollama or LM Studio, then choose this',
    },
    {
      value: 'offline',
      label: 'Go on without',
      help: 'an offline search answers, and writes no code',
    },
  ],
});
