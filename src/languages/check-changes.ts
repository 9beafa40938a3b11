import type { ContentChange } from '../protocol/languages.ts';
import type { LanguageServer } from './language-server.ts';
import { withoutByteOrderMark, type DocumentText } from './open-documents.ts';
import type { PendingEvents } from './pending-events.ts';
import { findNewProblems, type CheckedText, type FileProblems } from './problems.ts';

/** The changes of one call in the files of one server. */
export interface ServedChanges {
  readonly changes: readonly ContentChange[];
  /** All files that the call has changed, also those of other languages. */
  readonly changedPaths: ReadonlySet<string>;
  languageId(path: string): string;
}

const NO_FILE: CheckedText = { text: '', problems: [] };

/**
 * Finds the problems that changes have caused, in the changed files and in others that are open. The server gets the texts
 * before the change first, all of them together, since the problems of each file depend on the others.
 *
 * @param context.pending the changes of files of which the server was not told yet, with those of the call
 */
export async function checkChanges(
  server: LanguageServer,
  { changes, changedPaths, languageId }: ServedChanges,
  { pending, signal }: { readonly pending: PendingEvents; readonly signal: AbortSignal },
): Promise<readonly Omit<FileProblems, 'source'>[]> {
  const toDocument = (path: string, text: string): DocumentText => {
    return { path, text: withoutByteOrderMark(text), languageId: languageId(path) };
  };
  const checkTexts = (texts: readonly (readonly [string, string | null])[]) => {
    const documents = texts.map(([path, text]) => (text === null ? null : toDocument(path, text)));
    for (const document of documents) if (document !== null) server.send(document);
    return Promise.all(
      documents.map((document) => (document === null ? NO_FILE : server.check(document, signal))),
    );
  };
  const paths = changes.map(({ path }) => path);
  return await server.inTurn(paths, signal, async () => {
    server.reportChanges(pending, changedPaths);
    const written = changes.filter(({ after }) => after !== null);
    for (const { path, before, after } of changes) {
      if (before !== null && after === null) server.send(toDocument(path, before));
    }
    const before = await checkTexts(written.map((change) => [change.path, change.before]));
    await server.findNewProblemsInOthers(signal, {
      waits: written.every((change) => change.before === null),
    });
    for (const { path, after } of changes) if (after === null) server.closeDocument(path);
    server.reportChanges(pending, null);
    const after = await checkTexts(written.map((change) => [change.path, change.after]));
    const own = written.map(({ path }, index) => {
      const [old, now] = [before[index] ?? NO_FILE, after[index] ?? NO_FILE];
      return { path, problems: findNewProblems(old, now) };
    });
    const others = await server.findNewProblemsInOthers(signal, { waits: written.length === 0 });
    return [...own, ...others].filter(({ problems }) => problems.length > 0);
  });
}
