import { errorMessage } from '../../base/errors.ts';
import { isJsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { StateFile } from '../../store/state/state-file.ts';

/** Counts how often the user has used each hint of the terminal UI, in all sessions. */
export interface HintUses {
  /** Returns the number of uses by the name of the hint. A hint without uses is missing. */
  counts(): ReadonlyMap<string, number>;
  /** Adds one use of a hint. */
  add(hint: string): void;
}

/** The counts of a session that keeps no log. */
export const NO_HINT_USES: HintUses = { counts: () => new Map(), add: () => {} };

/** The maximum number of hints in the file. */
const MAX_HINTS = 200;

/**
 * Opens the counts in a small file of the state directory (absolute), which only the user can read. If the file cannot
 * be read or written, `onProblem` gets one line about it, and all hints count as new.
 */
export function openHintUses(directory: string, onProblem: (line: string) => void): HintUses {
  const file = new StateFile(directory, 'hints.json', 'start again');
  let hasProblem = false;
  const withProblemReport = <T>(otherwise: T, act: () => T): T => {
    if (hasProblem) return otherwise;
    try {
      return act();
    } catch (thrown) {
      hasProblem = true;
      onProblem(`the use of hints is not counted: ${errorMessage(thrown)}`);
      return otherwise;
    }
  };
  const parse = (text: string | undefined): Map<string, number> => {
    if (text === undefined) return new Map();
    const content = parseJsonLine(text);
    const uses = isJsonObject(content) ? content['uses'] : undefined;
    if (!isJsonObject(uses)) throw file.damaged('it holds no counts');
    const counts = Object.entries(uses).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number',
    );
    return new Map(counts.slice(0, MAX_HINTS));
  };
  return {
    counts: () => withProblemReport(new Map(), () => parse(file.read())),
    add: (hint) =>
      withProblemReport(undefined, () =>
        file.update((text) => {
          const counts = parse(text);
          counts.set(hint, (counts.get(hint) ?? 0) + 1);
          return `${JSON.stringify({ version: 1, uses: Object.fromEntries(counts) })}\n`;
        }),
      ),
  };
}
