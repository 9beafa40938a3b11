import { sanitizeForTerminal, type TerminalContext } from './terminal-text.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Escapes text for an element or a quoted attribute. Characters that control a terminal are made harmless as well,
 * because text is copied from a page, and HTML does not allow them.
 */
export function html(text: string, context: TerminalContext = 'exact'): string {
  return sanitizeForTerminal(text, context).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
