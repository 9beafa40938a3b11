import type { ContentBlock } from '@agentclientprotocol/sdk/unstable';
import { fileURLToPath } from 'node:url';
import type { ShownImage } from '../../api/index.ts';
import { UsageError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';

/** A message of the user, as its parts are passed on to the conversation. */
export interface PromptContent {
  readonly words: string;
  readonly images: readonly ShownImage[];
  /** The texts that the editor has attached, such as files with changes that are not saved. */
  readonly resources: readonly QuotedItem[];
}

/**
 * Reads the blocks of a prompt. Throws UsageError for a block that cannot be sent; the message names its kind and what to do
 * instead.
 */
export function readPromptContent(blocks: readonly ContentBlock[]): PromptContent {
  const words: string[] = [];
  const images: ShownImage[] = [];
  const resources: QuotedItem[] = [];
  for (const [index, block] of blocks.entries()) {
    switch (block.type) {
      case 'text':
        words.push(block.text);
        break;
      case 'image': {
        const name = `[image #${images.length + 1}]`;
        images.push({ name, bytes: Buffer.from(block.data, 'base64') });
        words.push(name);
        break;
      }
      case 'resource_link':
        words.push(toMention(block.uri));
        break;
      case 'resource': {
        const { resource } = block;
        const name = sanitizeLine(toPath(resource.uri) ?? resource.uri);
        if (!('text' in resource)) throw refuse(index, `the file ${name} is not text`);
        words.push(name);
        resources.push(quoteResource(name, resource.text));
        break;
      }
      case 'audio':
        throw refuse(index, 'audio is not supported');
      default:
        throw refuse(index, 'a block of this type is not supported');
    }
  }
  return { words: joinWords(words), images, resources };
}

/** Joins the texts of a message. An editor puts a link between two texts, which need not end with a space. */
function joinWords(words: readonly string[]): string {
  return words
    .reduce(
      (joined, each) =>
        /(^|\s)$/.test(joined) || /^[\s.,;:!?)]/.test(each) ? joined + each : `${joined} ${each}`,
      '',
    )
    .trim();
}

function refuse(index: number, problem: string): UsageError {
  return new UsageError(
    `prompt[${index}]: ${problem}; send text, images, links to files, or the text of files`,
  );
}

/** Returns a link as a message mentions it: a file with `@`, anything else as it is. */
function toMention(uri: string): string {
  const path = toPath(uri);
  if (path === null) return uri;
  return /[\s"]/.test(path) ? `@"${path.replaceAll('"', '')}"` : `@${path}`;
}

/** Returns the path of a `file:` URI; null for another URI, and for a file on another machine. */
function toPath(uri: string): string | null {
  if (!uri.startsWith('file:')) return null;
  try {
    return fileURLToPath(new URL(uri.replace(/#.*$/, '')));
  } catch {
    // It is not the URI of a local file, so it stays a URI.
    return null;
  }
}

/** The text of a file in the editor, which need not be that on the disk. It is outside text. */
function quoteResource(name: string, text: string): QuotedItem {
  const outcome = 'The text is that of the editor, which the user may not have saved.';
  return { kind: 'file', name, outcome, text, nonce: drawNonce(text) };
}
