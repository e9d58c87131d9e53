import type { CSpellSettings } from 'cspell';
import { knownTerms, serviceWords } from './spell-words.ts';

/** `npm run spell`: the spelling of prose, comments, messages and names. */
export default {
  version: '0.2',
  language: 'en-GB',
  globRoot: '${cwd}',
  enableGlobDot: true,
  useGitignore: true,
  ignorePaths: [
    '.git',
    'migrations/*/meta',
    'scripts/words.txt',
    'package-lock.json',
    'test/proofs.lock',
    '{migrations,docs}/**/*.sql',
    'bench/**/*.{py,sh}',
    'docs/fr', // In French.
    'src/lib/text/locales/*.json', // In French; its keys are checked where they stand, in src.
    'docs/reporting/reports/*.svg',
    'deploy/superset', // Generated, of checked words and of data.
  ],
  dictionaries: [
    'typescript',
    'node',
    'python',
    'npm',
    'softwareTerms',
    'networking-terms',
    'computing-acronyms',
    'sql',
    'bash',
    'docker',
    'k8s',
    'html',
    'css',
    'html-symbol-entities',
  ],
  words: [...knownTerms()],
  ignoreWords: [...serviceWords()],
  ignoreRegExpList: [
    '/^\\[[^\\]]*\\]\\(fr\\/.*$/gm', // The way to the same page in French.
    '/\\b[Bb]ms[Ss]ync\\w+/g', // Alerts.
    '/`\\s*(?:select|insert into|delete from|alter|create)\\b[^`]*`/g', // SQL.
    '/sql`(?:\\$\\{(?:[^`}]|`[^`]*`)*\\}|[^`])*`/g',
    "/\\bSQLITE_\\w+|'(?:E|UND_ERR_)[A-Z_]+'/g", // Error codes.
    '/\\\\n/g', // A line end within a text.
    '/\\/dev\\/\\w+/g', // Devices.
    '/"unit": "\\w+"/g', // Grafana's.
    '/^-- \\w+_fr: .*(?:\\n-- {2,}.*)*/gm', // French lines in the head of a report.
    '/String\\.raw`[^`]*`|\\[[^\\]\\s]*\\\\[^\\]\\s]*\\]/g', // Parts of regular expressions.
  ],
  overrides: [
    {
      filename: 'sandbox/generate/*.ts', // Strings and fields of the simulated service.
      ignoreRegExpList: ["/'[^'\\n]*'|`[^`]*`/g", '/\\b\\w+(?=: )/g'],
    },
    {
      filename: '{test,bench,sandbox}/**/*.ts', // Data: no space, YAML, a record's content, JSON, accents.
      ignoreRegExpList: [
        "/'[^'\\s]*'/g",
        '/\\b[A-Z]+(?:_[A-Z]+)+\\b/g', // Variables.
        '/"[^"\\s]*"/g',
        "/'[a-z]+:(?: |\\\\n)[^'\\n]*'/g",
        "/\\b(?:name|nom|city|note): '[^'\\n]*'/g",
        "/['`][{[][^'`]*['`]/g",
        "/\\b(?:meaning_)?fr: '[^'\\n]*'|column: 'Le [^']*'/g",
        "/[\\p{L}'’]*[\\u00c0-\\u06ff][\\p{L}'’]*/gu",
      ],
    },
    {
      filename: 'src/{catalog/descriptions,views/engine-columns}.ts', // Labels; the second is French.
      ignoreRegExpList: [
        `/(?:\\[|instant\\()\\s*(?:'[a-z]+',\\s*)?'[^']*',\\s*(?:'[^']*'|"[^"]*")/g`,
        '/\\bfr: `[^`]*`/g',
      ],
    },
    {
      filename: 'docs/{reporting/*,figures,webhooks}.md', // What is typed into other programs.
      ignoreRegExpList: ['/^```[^]*?^```$/gm', '/`[^`\n]*`/g', '/\]\([^)]*\)/g'],
    },
    {
      filename: 'src/features/mcp/sql/*.ts', // Functions of databases, and the tree of PostgreSQL's parser.
      ignoreRegExpList: ['/`[^`]*`/g', '/\\b\\w+(?=\\?: )|\\.\\w+/g'],
    },
    {
      filename: 'test/features/mcp/query.test.ts', // SQL.
      ignoreRegExpList: ["/'[^'\\n]*'/g", '/"[^"\\n]*"/g'],
    },
    {
      filename: 'test/clients/**', // Names and commands of other programs.
      ignoreRegExpList: ['/"[^"\\n]*"/g', "/'[^'\\n]*'/g", '/`[^`\\n]*`/g'],
    },
    {
      filename: 'scripts/reports/superset.ts', // Superset's names.
      ignoreRegExpList: ["/'[^'\\n]*'/g", '/\\b\\w+(?=:)/g'],
    },
    { filename: '**/*.service', ignoreRegExpList: ['/^\\w+=.*$/gm'] }, // Settings of systemd.
  ],
} satisfies CSpellSettings;
