import { dirname } from 'node:path';
import type { DefinitionFile } from '../../loader/format.ts';
import { absolutePath } from '../../../sys/paths.ts';

/** opencode's way to put a file's text in a prompt. */
const REFERENCE = /\{file:([^}\n]{1,1000})\}/g;
/** Of one prompt. */
const MAX_REFERENCES = 20;
/** Characters of a prompt with all that was put into it. */
const MAX_PROMPT = 256 * 1024;

type PromptText =
  | { readonly ok: true; readonly prompt: string }
  /** Why it has none that could be used, as sentences. */
  | { readonly ok: false; readonly reason: string };

/** The files that a prompt names, by absolute path. What is relative counts from the file it stands in. */
export function promptFiles(prompt: string, path: string): readonly string[] {
  return [...prompt.matchAll(REFERENCE)]
    .slice(0, MAX_REFERENCES)
    .map(([, name = '']) => absolute(name.trim(), path));
}

function absolute(name: string, path: string): string {
  return absolutePath(name, dirname(path));
}

/** A prompt with the text of the files that it names; what they name in turn stays as it stands. */
export function withPromptFiles(prompt: string, file: DefinitionFile): PromptText {
  const parts = prompt.split(REFERENCE);
  if ((parts.length - 1) / 2 > MAX_REFERENCES) {
    return { ok: false, reason: `It names more than ${MAX_REFERENCES} files.` };
  }
  let text = '';
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 0) {
      text += part;
      continue;
    }
    const read = file.readReferenced?.(absolute(part.trim(), file.path));
    if (read === undefined) return unread(part, 'It is not read here.');
    if (!read.ok) return unread(part, read.reason);
    text += read.text.trim();
    if (text.length > MAX_PROMPT) {
      return { ok: false, reason: `It is longer than ${MAX_PROMPT} characters.` };
    }
  }
  return { ok: true, prompt: text };
}

function unread(name: string, reason: string): PromptText {
  return { ok: false, reason: `Its prompt lies in ${name.trim()}. ${reason}` };
}
