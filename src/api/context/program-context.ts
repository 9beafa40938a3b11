import { rejectOnAbort } from '../../base/async.ts';
import { errorMessage } from '../../base/errors.ts';
import { createProjectContext } from '../../engine/prompt/prompt.ts';
import type { ContextFile, ContextSource } from '../../protocol/project-context.ts';
import type { ProgramContext } from '../setup/program-parts.ts';

/** The maximum number of bytes of one text of a program in a prompt. The rest is cut off. */
const MAX_TEXT_BYTES = 32 * 1024;
/** The maximum time for reading one text, in milliseconds. No task begins before. */
const MAX_READ_MS = 5_000;

/**
 * Adds the texts of a program to the context of directories. They are read before each task is created, and they come last, so
 * that they take precedence. A text that can't be read, or not in time, is left out with a notice.
 *
 * @param maxReadMs the maximum time for reading one text, in milliseconds
 */
export function addProgramContext(
  source: ContextSource,
  {
    texts,
    cwd,
    onNotice,
    maxReadMs = MAX_READ_MS,
  }: {
    readonly texts: readonly ProgramContext[];
    readonly cwd: string;
    readonly onNotice: (line: string) => void;
    readonly maxReadMs?: number;
  },
): ContextSource {
  if (texts.length === 0) return source;
  let files: readonly ContextFile[] = [];
  const read = async ({
    name,
    read: readText,
  }: ProgramContext): Promise<readonly ContextFile[]> => {
    const late = AbortSignal.timeout(maxReadMs);
    try {
      const text = (await rejectOnAbort(Promise.resolve(readText(cwd)), late)) ?? '';
      if (text === '') return [];
      const bytes = Buffer.from(text);
      const isCut = bytes.length > MAX_TEXT_BYTES;
      if (isCut)
        onNotice(`context ${name}: more than ${MAX_TEXT_BYTES} bytes; the rest is left out`);
      const kept = isCut ? bytes.subarray(0, MAX_TEXT_BYTES).toString() : text;
      return [{ name, scope: 'user', text: kept, isCut }];
    } catch (thrown) {
      const reason = late.aborted
        ? `its function took longer than ${maxReadMs / 1000} s`
        : errorMessage(thrown);
      onNotice(`context ${name} could not be read and is left out: ${reason}`);
      return [];
    }
  };
  return {
    async refresh() {
      const [, ...own] = await Promise.all([source.refresh(), ...texts.map(read)]);
      files = own.flat();
    },
    getContext(directory) {
      const context = source.getContext(directory);
      if (files.length === 0) return context;
      return createProjectContext({
        files: [...(context?.files ?? []), ...files],
        leftOut: context?.leftOut ?? [],
        git: context?.git ?? null,
      });
    },
  };
}
