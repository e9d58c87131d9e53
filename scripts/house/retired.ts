/** The words that the tree no longer uses, each with its replacement: data for the lint rule, the tests and `npm run house`. */

interface Retired {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Identifiers. A column and the member that mirrors it keep their name (`failingToldAt`). */
export const RETIRED_NAMES: readonly Retired[] = [
  {
    pattern: /^(?:un|re)?(?:told|said|says?|saying|tells?|teller|telling)(?![a-z])/,
    instead: 'the content (proxyUser, output) or a plain verb (log, report, print, format)',
  },
  {
    pattern: /^(?!failingToldAt$).*(?:Told|Said|Says?|Saying|Tells?|Teller|Telling)(?![a-z])/,
    instead: 'the content, or a plain verb',
  },
  { pattern: /^speech|Speech/, instead: 'translator' },
  { pattern: /^deeds?(?![a-z])|Deeds?(?![a-z])/, instead: 'action' },
  { pattern: /newcomer|Newcomer/, instead: 'possible match' },
  { pattern: /^news$|News$/, instead: 'notification' },
  { pattern: /^(?:given|asking|Asking|those|looker)$/, instead: 'the content: input, options, request' },
  {
    pattern: /^(?:give|leave|take)(?:News|Notice|Session|Language|Leaks|Tally)$/,
    instead: 'add, set, read, write',
  },
  {
    pattern:
      /^(?:whatOf|fateOf|equalOnes|possibleOnes|goneOwners|leadsTo\w*|saysOther|mostTokens|pullsToCome)$/,
    instead: 'a noun',
  },
];

/** Turns of phrase in comments, documents and texts of pages. */
export const RETIRED_TURNS: readonly Retired[] = [
  { pattern: /\b(?:told|tells?|telling)\b/gi, instead: 'notify, log, report, show' },
  {
    pattern: /\b(?:says?|said|saying) (?:so|nothing|which|what|how|whether|why|who)\b/gi,
    instead: 'shows, reports',
  },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|one\b)(?=[a-z])/gi,
    instead: 'is not a, has no',
  },
  { pattern: /\bnor (?:was|were|is|are|do|does|did|has|have|had|can|may)\b/gi, instead: 'and … not' },
  {
    pattern:
      /[,;:] (?:and )?so (?:do|does|did|is|are|was|has|have|had|can|may|will) (?:an?|the|its?|their|every|all)\b/gi,
    instead: 'also',
  },
  { pattern: /\bthose (?:that|which|who)\b/gi, instead: 'the noun' },
  { pattern: /\bof (?:ours|theirs)\b/gi, instead: 'our, their' },
  {
    pattern: /\b(?:a|one) (?:line|row|request|page|event|file|step) an? (?!second|minute|hour|day)/gi,
    instead: 'one … per',
  },
  { pattern: /\b(?:takes?|took|gives?|gave) (?:no|none|nothing)\b/gi, instead: 'does not' },
  { pattern: /\bof consequence\b|\bas of it\b|\bhardly\b|\banew\b|\bwhoever\b/gi, instead: 'plain words' },
  { pattern: /\b(?:by|with|of) (?:which|whom)\b/gi, instead: 'two sentences' },
  { pattern: /\bnobody (?:else )?(?:may|has|is|knows?|asked|reads?|who)\b/gi, instead: 'plain words' },
  {
    pattern: /\b(?:comes?|came) to be\b|\bhas no other\b|\bgo(?:es)? on with\b/gi,
    instead: 'becomes, continues',
  },
  { pattern: /\bmends?\b|\bmended\b|\bnewcomers?\b|\bdeeds?\b/gi, instead: 'fix; possible match; action' },
];
