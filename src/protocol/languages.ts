import type { ErrorCode } from '../base/errors.ts';

/** The content of a file before and after a call. */
export interface ContentChange {
  /** Absolute, without links. */
  readonly path: string;
  /** The text before the call; null if the file did not exist. */
  readonly before: string | null;
  /** The text after the call; null if the file no longer exists. */
  readonly after: string | null;
}

/** A file that was created, changed or deleted. */
export interface FileEvent {
  /** Absolute, without links. */
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted';
}

/** The changes that a call has made. */
export interface CallChanges {
  /** The texts of changed files, as far as they are known and were not only moved. */
  readonly contents: readonly ContentChange[];
  /** All changed files. */
  readonly events: readonly FileEvent[];
}

/** The task and the call for which language servers, checkers and formatters work. */
export interface LanguageCall {
  /** The working directory of the task, for the paths in texts. */
  readonly cwd: string;
  /** The roots of the task. Absolute, without links. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  /** Tells whether the task may read a file (absolute, without links). Problems in other files are not reported. */
  isReadable(path: string): boolean;
  /** Begins to observe a checker, so that what it changes is recorded with the call. Absent if that is not recorded. */
  observeChecker?(): Promise<CheckerObservation>;
}

/** The observation of a checker that runs. */
export interface CheckerObservation {
  /** Ends the observation when the checker has ended. Never rejects. */
  end(): Promise<void>;
}

/** The problems that a call has caused. */
export interface CodeFeedback {
  /** The new problems, as text of language servers and checkers. Empty if there are none. */
  readonly problems: string;
  /** Sentences about files that could not be checked. They may quote programs. */
  readonly notes: readonly string[];
}

/** The formatted content of a file, or the reason why its formatter failed, as a clause. */
export type FormatOutcome =
  | { readonly by: string; readonly text: string }
  | { readonly by: string; readonly problem: string };

/** A call that changes files, between its start and its result. */
export interface FileChangeCheck {
  /** Formats a file that the call has written. Returns null if nothing is to be changed. Never rejects. */
  format(file: { readonly path: string; readonly text: string }): Promise<FormatOutcome | null>;
  /**
   * Finds the problems that the changes have caused. Waits for servers and checkers only as long as the limits allow,
   * and never rejects.
   */
  findNewProblems(changes: CallChanges): Promise<CodeFeedback>;
}

/** A place in a file that a language server has named. */
export interface CodePlace {
  /** Absolute. It may lie anywhere. */
  readonly path: string;
  /** The number of the line. The first line is 1. */
  readonly line: number;
  /** The name and the kind of the symbol at this place. Empty if the server names none. */
  readonly label: string;
  /** The number of symbols that contain this one. */
  readonly depth: number;
}

/** A symbol in a file, as a model names it. */
export interface NamedSymbol {
  /** Absolute, without links. */
  readonly path: string;
  readonly symbol: string;
  /** The line on which the symbol stands, from 1 on; null: its first place in the file. */
  readonly line: number | null;
}

/** A question to a language server. */
export type CodeQuestion =
  | ({ readonly kind: 'definition' | 'references' } & NamedSymbol)
  /** The symbols of a file. */
  | { readonly kind: 'file_symbols'; readonly path: string }
  /** The symbols of the project with such a name. `path`: a file or a directory of the project. */
  | { readonly kind: 'named_symbols'; readonly path: string; readonly symbol: string };

/** A reason why a language server has no answer, as a sentence for the model. */
export interface CodeProblem {
  readonly ok: false;
  readonly error: ErrorCode;
  readonly problem: string;
}

export type CodeAnswer =
  | { readonly ok: true; readonly places: readonly CodePlace[]; readonly server: string }
  | CodeProblem;

/** The changes that a rename needs: the new text of each file, with its text before. */
export type RenamePlan =
  | {
      readonly ok: true;
      readonly files: readonly {
        readonly path: string;
        readonly before: string;
        readonly after: string;
      }[];
    }
  | CodeProblem;

/** The language servers, checkers and formatters of the process. All tasks share them. */
export interface LanguagePort {
  /** Begins to watch a call that may change these files (absolute, without links). Never rejects. */
  beginChange(paths: readonly string[], call: LanguageCall): Promise<FileChangeCheck>;
  answer(question: CodeQuestion, call: LanguageCall): Promise<CodeAnswer>;
  /** Returns the problems of a file as text, old and new ones. */
  listProblems(path: string, call: LanguageCall): Promise<CodeAnswerText | CodeProblem>;
  planRename(
    symbol: NamedSymbol & { readonly newName: string },
    call: LanguageCall,
  ): Promise<RenamePlan>;
}

/** A text for the model, which contains text of a server. */
export interface CodeAnswerText {
  readonly ok: true;
  readonly text: string;
}
