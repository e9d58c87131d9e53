import type { Mistake } from './mistake.ts';

export const PUSH_MISTAKES: readonly Mistake[] = [
  {
    title: 'data that is no JSON',
    argv: ['push', 'create', 'clients', '--data', "{code:'C-1'}"],
    code: 2,
    message: ['--data is not JSON', "{code:'C-1'}", `'{"code":"C-1"`],
  },
  {
    title: 'a data file that is not there',
    argv: ['push', 'create', 'clients', '--data', '@/nowhere/record.json'],
    code: 2,
    message: ['/nowhere/record.json', 'is not there'],
  },
  {
    title: 'a misspelt kind',
    argv: ['push', 'create', 'client', '--data', '{"code":"C-1"}'],
    code: 2,
    message: [
      'no record kind "client"',
      'did you mean clients?',
      'Those that can be written are projects, clients',
    ],
  },
  {
    title: 'a batch with a line that is no JSON',
    argv: ['push', '--batch'],
    stdin: '{"operation":"create","kind":"clients","data":{"code":"C-1","name":"Ada"}}\n{oops}\n',
    code: 2,
    message: ['line 2', 'JSON'],
  },
];

export const OPTION_MISTAKES: readonly Mistake[] = [
  {
    title: 'a misspelt command',
    argv: ['pul'],
    code: 2,
    message: ["unknown command 'pul'", 'Did you mean pull?'],
  },
  {
    title: 'an option of another command',
    argv: ['status', '--follow'],
    code: 2,
    message: ["unknown option '--follow'", 'bms-sync status --help'],
  },
  {
    title: 'a role that there is not',
    argv: ['serve', '--only', 'pull'],
    code: 2,
    message: ['Unknown role "pull"', 'did you mean pulls?'],
  },
  {
    title: 'ids that are none',
    argv: ['backfill', 'clients', '--ids', '1-'],
    code: 2,
    message: ['1-', '1,5-9'],
  },
];

export const FILE_MISTAKES: readonly Mistake[] = [
  {
    title: 'a faults file that is not there',
    argv: ['sandbox', '--port', '0', '--faults', '/nowhere/faults.yaml'],
    code: 2,
    message: ['/nowhere/faults.yaml', 'is not there'],
  },
  {
    title: 'a data file that is not UTF-8',
    argv: ({ file }) => ['push', 'create', 'clients', '--data', `@${file('latin.json', '\u{ff}')}`],
    code: 2,
    message: ['latin.json', 'UTF-8'],
  },
];
