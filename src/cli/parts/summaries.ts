type Summaries = Readonly<Record<string, readonly [summary: string, ...args: string[]]>>;

const LISTED = {
  demo: ['start a simulated service, mirror it into ./data/demo.db and show a short tour; needs no settings'],
  pull: ['read the lists of the service into the mirror', '[kind...]'],
  backfill: ['read records of one kind again, by hand', '<kind>'],
  status: ['show how fresh and complete the mirror is'],
  runs: ['show past runs and how they ended'],
  deletions: ['decide on records that disappeared all at once'],
  changes: ['show what happened to the records; with --json, one object per line'],
  record: [
    'show everything about one record: row, versions, issues, outbox entries, links',
    '<kind>',
    '<id or text...>',
  ],
  kinds: ['show what can be read and written, field by field', '[kind]'],
  export: ['write the rows of a record kind or a view as CSV, NDJSON or XLSX', '<kind|view>'],
  report: ['run a ready report, or list them', '[name]'],
  backup: [
    'copy a mirror in SQLite, checked, with what stands beside it; others may use it meanwhile',
    '<file>',
  ],
  snapshot: ['write a SQLite file with the content of the views, for reporting tools', '<file>'],
  forget: ["remove a record's content from the mirror for good; only its id stays", '<kind>', '<id>'],
  push: ['queue creates and updates for the service'],
  plan: ['show what an edited export would change, cell by cell', '<file|number>'],
  plans: ['list the plans, the newest first'],
  approve: ['approve a plan that another user has made', '<plan>'],
  reject: ['reject a plan that another user has made; it can no longer be applied', '<plan>'],
  withdraw: ['withdraw a plan of your own; it can no longer be applied', '<plan>'],
  apply: [
    'put exactly the rows of a plan into the outbox, unless one of its cells has changed in the mirror',
    '<plan>',
  ],
  undo: ['make a plan that undoes an applied plan, except for values that were changed since', '<plan>'],
  outbox: ['show the changes for the service, and decide on the ones that are stuck'],
  webhooks: ['send events to programs, e-mail addresses and chat rooms (endpoints)'],
  users: ['manage the users who may read, push, decide or administer'],
  verify: ['compare the mirror with the service, record by record', '[kind...]'],
  mcp: ['answer the questions of an AI assistant on stdio (MCP), read only'],
  move: ['copy the whole mirror from a SQLite file into an empty PostgreSQL database', '[url]'],
  migrate: ['upgrade the mirror to this release'],
  doctor: ['check everything that a pull needs', '[URL]'],
  serve: ['run the background service: pulls, outbox, webhooks, dashboard, API'],
  sandbox: ['run a simulated service to try things against'],
} satisfies Summaries;

/** A command without a line here could not be called. */
export type CommandName = keyof typeof LISTED;

/** The summary and the arguments of every command, in the order of the help text, which is shown without loading any. */
export const SUMMARIES: Summaries = LISTED;
