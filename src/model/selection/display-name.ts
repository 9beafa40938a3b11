/**
 * Splits the `model` text of an agent file into names. Editors write several into one text, separated by `|` or
 * `,`, and quote some of them.
 */
export function splitModelNames(text: string): readonly string[] {
  const parts = text.split(/[|,]/).map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'));
  return parts.filter((part) => part.trim() !== '');
}

/**
 * Returns true for the names that editors show for models, which are no ids: `Claude Sonnet 4.5 (copilot)`,
 * `GPT-5`, `claude-opus-4.6`.
 */
export function isDisplayName(name: string): boolean {
  if (name.includes('/')) return false;
  return /\s/.test(name) || /[A-Z].*\d/.test(name) || /^claude-.*\d\.\d/.test(name);
}

/** A remark about the host or state of a model behind its name: `(copilot)`, `(Preview)`. */
const REMARK = /\s*\([^()]*\)/g;

/** Converts a display name to the id that it would have by the conventions of its vendor. */
export function idFromDisplayName(name: string): string {
  const id = name.replaceAll(REMARK, '').trim().toLowerCase().replaceAll(/\s+/g, '-');
  return id.startsWith('claude-') ? id.replaceAll('.', '-') : id;
}
