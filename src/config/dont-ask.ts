/** The word means opposite things in two products, so it is never guessed. */
export const DONT_ASK_HINT =
  '"dontAsk" is not taken here, because it means two opposite things: in Claude Code "refuse whatever would ask" ' +
  '(write "default": where nobody can answer, what would ask is refused), and elsewhere "run everything without ' +
  'asking" (write "autonomous")';
