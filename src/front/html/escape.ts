import { terminalText, type TerminalContext } from '../../base/terminal-text.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Text for the content of an element or a quoted attribute. What a terminal would act on is made
 * harmless in the same way: a page is copied from, and controls are not allowed in one.
 */
export function html(text: string, context: TerminalContext = 'exact'): string {
  return terminalText(text, context).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '');
}
