import { truncate } from '../base/text.ts';

/** Code points; with any script in it below what file systems take. */
const LONGEST = 60;

/** The file that an agent of this name is written to: `Rust Expert` → `rust-expert.md`. */
export function agentFileName(name: string): string {
  const slug = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-')
    .replaceAll(/^[^\p{L}\p{N}_]+/gu, '');
  const stem = truncate(slug, LONGEST).replaceAll(/[-.]+$/g, '');
  return `${stem === '' ? 'agent' : stem}.md`;
}
