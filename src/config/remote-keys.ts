import { listKey } from './key-kinds.ts';

/** The keys of the section `remote`. A project's file may not set any of them. */
export const REMOTE_KEYS = {
  a2a_origins: listKey({
    project: 'never',
    combine: 'append',
    expects: 'a list of origins like "https://agents.example"',
    acceptsItem: isWebOrigin,
    meaning: 'servers that the A2A agent cards of other servers may name',
  }),
} as const;

/** Tells whether a text is the scheme, host and port of a web server, as in `https://agents.example:8443`. */
function isWebOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.parse(text)?.origin === text;
}
