import type { HereDoc, HereString, Redirect } from 'unbash';
import type { ShellRedirect } from './parsed-line.ts';
import { toHereDocumentWord, toShellWord } from './words.ts';

export function toShellRedirect(node: Redirect | HereString | HereDoc): ShellRedirect {
  const { operator } = node;
  switch (node.type) {
    case 'HereDoc': {
      const { text, parts = [] } = node.body;
      // Without its last line it ends where the line does, or where bash thinks it does.
      if (node.closing === undefined) return { operator, target: null, opensFile: false };
      const isQuoted = node.delimiter?.quoted === true;
      return {
        operator,
        target: toHereDocumentWord(text, isQuoted ? [] : parts),
        opensFile: false,
      };
    }
    case 'HereString': {
      const target = node.target === undefined ? null : toShellWord(node.target);
      return { operator, target, opensFile: false };
    }
    case 'Redirect': {
      const isUnclear = node.descriptor?.type === 'FileDescriptorVariable';
      const target = node.target === undefined || isUnclear ? null : toShellWord(node.target);
      return { operator, target, opensFile: opensFile(operator, target?.value ?? null) };
    }
  }
}

/** Names of nothing, and of the three descriptors that every command has. */
const NO_FILE = /^\/dev\/(?:null|std(?:in|out|err)|fd\/[0-2])$/;

function opensFile(operator: string, value: string | null): boolean {
  if (value !== null && NO_FILE.test(value)) return false;
  const duplicates = operator === '>&' || operator === '<&';
  return !(duplicates && value !== null && /^(?:\d+-?|-)$/.test(value));
}
