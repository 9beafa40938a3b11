import { decodeUtf8, MAX_DEFINITION_BYTES } from '../../agents/loader/read-text.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';

/** The text of a file, or a pipe, that a person names as a prompt: at most what an agent's file may hold. */
export async function readPromptFile(path: string): Promise<string> {
  const bytes = await readNamedFile(path, { maxBytes: MAX_DEFINITION_BYTES }).catch(
    (thrown: unknown) => {
      throw new UsageError(`--prompt-file ${errorMessage(thrown)}`, { cause: thrown });
    },
  );
  const text = decodeUtf8(bytes);
  if (!text.ok) throw new UsageError(`--prompt-file ${path}: ${text.reason}`);
  return text.text;
}
