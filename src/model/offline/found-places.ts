import { isFileKind, type FileKind } from '../../base/code/file-kind.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Situation } from './situation.ts';

/** The tool that ranks the places of a workspace: its results are JSON, a line each. */
export const FIND_PLACES = 'FindPlaces';

export interface FoundPlace {
  readonly path: string;
  readonly kind: FileKind;
  /** Null: it was found by its path alone. */
  readonly line: number | null;
  /** The symbol that is defined there, or that the line belongs to. */
  readonly name: string | null;
  readonly isDefinition: boolean;
  /** Share of the question that the file holds: 0 to 1. */
  readonly coverage: number;
  readonly matched: readonly string[];
  readonly inPath: readonly string[];
}

export interface FoundPlaces {
  /** Files that were searched. */
  readonly files: number;
  /** Words of the question that stand nowhere. */
  readonly absent: readonly string[];
  /** The search ended before it had seen all files. */
  readonly cut: boolean;
  /** Best first. */
  readonly places: readonly FoundPlace[];
}

/** What the search found; null where it was not made, or failed. */
export function foundPlaces({ rounds }: Situation): FoundPlaces | null {
  const outcome = rounds.flat().find(({ call }) => call.name === FIND_PLACES);
  if (outcome === undefined || outcome.result === null || outcome.result.isError) return null;
  const [head, ...places] = outcome.result.text.split('\n').flatMap((line) => parseLine(line));
  if (head === undefined || typeof head['files'] !== 'number') return null;
  return {
    files: head['files'],
    absent: textsOf(head['absent']),
    cut: typeof head['cut'] === 'string',
    places: places.flatMap((place) => placeOf(place)),
  };
}

function parseLine(line: string): readonly JsonObject[] {
  try {
    const value: JsonValue = JSON.parse(line);
    return isJsonObject(value) ? [value] : [];
  } catch {
    // A note beside the places, or a line that was cut.
    return [];
  }
}

/** A path with control characters is never cited. */
function placeOf(place: JsonObject): readonly FoundPlace[] {
  const { path, kind, line, name, coverage } = place;
  if (typeof path !== 'string' || path === '' || /\p{Cc}/u.test(path)) return [];
  if (typeof kind !== 'string' || !isFileKind(kind)) return [];
  return [
    {
      path,
      kind,
      line: typeof line === 'number' && Number.isSafeInteger(line) && line > 0 ? line : null,
      name: typeof name === 'string' ? name : null,
      isDefinition: place['isDefinition'] === true,
      coverage: typeof coverage === 'number' ? coverage : 0,
      matched: textsOf(place['matched']),
      inPath: textsOf(place['inPath']),
    },
  ];
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
