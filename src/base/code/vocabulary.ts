import { listNames } from '../text.ts';
import { stem } from '../word-stems.ts';

/** Words that say nothing about the subject of a question, in lower case. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  listNames(`a about above after again all also am an and any anything anyone are as at be because been before
  being below between both but by can could did do does doing done down during each either else etc
  even ever every exactly few find following for from further get gets give given gives going got had
  has have having he help her here him his how i if in inside into is it its itself just know let like
  likely look looking made make makes making many may me might more most much must my need needs no
  nor not now of off ok on once one only onto or other our out over own part place places please
  point put really repo repository right same see she should show so some somewhere such sure take
  tell than thanks that the their them then there these they thing things this those through to
  together too try under until up upon us use used uses using very via want wants was way we well
  were what when where whether which while who whom whose why will with within without would yes you
  your located happen happens live lives responsible codebase project workspace actually currently
  explain describe exist exists place where's what's don't doesn't isn't can't won't i'm it's hello hi hey`),
);

/** Words that are common to most questions about code, and therefore count less than other words. */
export const WEAK_WORDS: ReadonlySet<string> = new Set(
  listNames(`code file files function functions class classes method methods module modules logic handle
  handled handles handling handler implement implemented implements implementation define defined
  defines definition declared declare work works working fix fixed fixes bug bugs issue issues add
  adds added change changes changed support update updated new wrong line lines main set sets
  determine determines decide decides perform performs called call calls`),
);

/** Full and abbreviated spellings of one word, as programmers write them. All spellings of a word count the same. */
const SPELLINGS = parseGroups(`
  authentication authenticate auth
  authorization authorize authorise
  configuration configure config cfg conf
  initialization initialize initialise init
  parameter param
  argument args arg argv
  directory dir folder
  message msg
  request req
  response resp
  database db
  environment env
  command cmd
  temporary temp tmp
  previous prev
  maximum max
  minimum min
  average avg
  function func
  context ctx
  error err
  callback cb
  document doc
  reference ref
  application app
  information info
  identifier id ids
  synchronous sync synchronize synchronise
  asynchronous async
  library lib
  destination dest
  length len
  index idx
  pointer ptr
  buffer buf
  attribute attr
  property prop
  expression expr
  statement stmt
  variable var
  calculate calc
  execute exec
  permission perm
  statistic stats
  version ver
  button btn
  image img
  resolution resolve
  serialization serialize serialise
  normalization normalize normalise
  dependency deps dependencies
  utility util
  specification spec
  operation op
  original orig
  character char
  package pkg
  separator sep delimiter
  allocation alloc allocate
  generation generate gen
  declaration decl declare
  decryption decrypt
  encryption encrypt
  iteration iterate iterator iter
  deletion delete del
  replacement replace
  connection connect conn
  description describe desc
  implementation implement impl
  deprecation deprecate deprecated
  abbreviation abbreviate abbr
  recursion recursive recurse
  completion complete
  subscription subscribe
  transaction tx
  timestamp ts
  whitespace blank
  newline eol linebreak crlf
  colour color
`);

/**
 * Returns all spellings of a word, including the word itself, for any inflection; undefined if the table does not
 * contain the word.
 */
export function findSpellings(word: string): readonly string[] | undefined {
  return SPELLINGS.get(stem(word));
}

/** Maps the stem of each word to its group of spellings. A word in several groups belongs to the first of them. */
function parseGroups(table: string): ReadonlyMap<string, readonly string[]> {
  const byStem = new Map<string, readonly string[]>();
  for (const line of table.trim().split('\n')) {
    const group = listNames(line);
    for (const word of group) if (!byStem.has(stem(word))) byStem.set(stem(word), group);
  }
  return byStem;
}
