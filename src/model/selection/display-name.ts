import type { Vendor } from '../providers/vendors.ts';

/** Tells the id that a vendor gives to a model of this name; null: there is none that is known. */
export type FindKnownId = (vendor: Vendor, name: string) => string | null;

/**
 * The models that one wish of an agent file names: pickers of editors write several into one text,
 * parted by `|` or `,`, some of them quoted.
 */
export function splitModelNames(wish: string): readonly string[] {
  const parts = wish.split(/[|,]/).map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'));
  return parts.filter((part) => part.trim() !== '');
}

/** `Claude Sonnet 4.5 (copilot)`, `GPT-5`, `claude-opus-4.6`: what editors call models, and no id. */
export function isDisplayName(wish: string): boolean {
  if (wish.includes('/')) return false;
  return /\s/.test(wish) || /[A-Z].*\d/.test(wish) || /^claude-.*\d\.\d/.test(wish);
}

/** What is said of a model's host or state behind its name: `(copilot)`, `(Preview)`. */
const REMARK = /\s*\([^()]*\)/g;

/** The id that a display name would have where ids are made as its vendor makes them. */
export function idFromDisplayName(name: string): string {
  const id = name.replaceAll(REMARK, '').trim().toLowerCase().replaceAll(/\s+/g, '-');
  return id.startsWith('claude-') ? id.replaceAll('.', '-') : id;
}
