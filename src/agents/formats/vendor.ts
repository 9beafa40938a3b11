import type { DefinitionFormat, Locations } from '../loader/format.ts';

/** A product whose files Muster reads. */
export interface AgentVendor {
  readonly agents: DefinitionFormat;
  /** Absent: it has no skills of its own. */
  readonly skills?: Locations;
  /** The rules by which an agent file of this vendor is recognised wherever it lies. */
  readonly detection?: Detection;
}

export interface Detection {
  /** Names of directories that belong to this vendor alone. */
  readonly directories?: readonly string[];
  /** File names that belong to this vendor, in whatever directory. */
  readonly fileName?: RegExp;
  /** Matches front matter with a field that this vendor alone documents. */
  readonly frontMatter?: RegExp;
  /** Whether the front matter is tested after that of all other vendors: its fields are common words. */
  readonly isTestedLast?: boolean;
  /** Whether a text is an agent of this vendor, for file types that many programs use. */
  readonly isAgent?: (text: string) => boolean;
}
