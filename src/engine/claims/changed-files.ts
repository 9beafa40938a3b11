/** What is done to files, in the past tense. */
export const VERBS =
  '(?:(?:re-?)?(?:created|generated|added|formatted|introduced|implemented|organized|organised|structured|configured|saved)|wrote|written|edited|modified|updated|changed|fixed|patched|deleted|removed|renamed|moved|refactored|rewrote|rewritten|reworked|simplified|cleaned up|overwrote|overwritten|replaced|restored|reverted|corrected|adjusted|adapted|linked|aligned|renumbered|reordered|polished|cleared|emptied|translated|wrapped|guarded|bolded|commented out|uncommented|deprecated|isolated|decoupled|unified|normali[sz]ed|standardi[sz]ed|moderni[sz]ed|locali[sz]ed|regenerated|re-generated|undone|extended|expanded|tweaked|amended|touched|scaffolded|set up|drafted|authored|produced|converted|migrated|bumped|enhanced|improved|optimi[sz]ed|populated|filled in|placed|stored|put|appended|inserted|exported|extracted|documented|registered|wired(?: up)?|resolved|handled|defined|declared|hooked(?: up)?|copied|split|merged|dropped|stripped|tightened|hardened|swapped(?: out)?|switched|replicated|ported|annotated|typed|exposed|initiali[sz]ed|built|applied|recorded|dumped|pinned|upgraded|trimmed|deduplicated|consolidated|inlined|prepended|rolled out|eliminated|erased|purged|addressed|made (?:the |all |these |some |several |a few |two |three )?(?:\\w+ )?(?:changes?|edits?|updates?|fix(?:es)?|modifications?))';

/** Files of which a statement says that the answerer has changed them; one of a list is enough to be true. */
export interface FileClaim {
  /** It is borne out when one of these was changed. */
  readonly oneOf: readonly string[];
  /** Said of the answerer by name; anything else may tell of history where history was asked for. */
  readonly isFirstPerson: boolean;
}

const LIST_NEXT =
  /^(?: ?\((?:[^()]|\([^()]{0,40}\)){0,100}\))?(?:,? and |, and also |,? plus |,? as well as |, | & | \+ |\/| )(?:the |a |its |new |updated |also |modified |created )*‹f(\d+)›/;

/** The numbers of the files of a list that begins with `first`, `after` being what follows that. */
export function listFrom(first: number, after: string): readonly number[] {
  const found = [first];
  let rest = after;
  for (;;) {
    const next = LIST_NEXT.exec(rest);
    if (next === null) return found;
    found.push(Number(next[1]));
    rest = rest.slice(next[0].length);
  }
}

export function names(files: readonly string[], numbers: readonly number[]): readonly string[] {
  return numbers.flatMap((at) => files[at] ?? []);
}
