import type { Session, SqlValue } from '../../src/db/session/session.ts';
import type { HttpClient, HttpAnswer } from '../../src/source/http/http.ts';
import type { Doubles } from './pull-once.ts';

export interface PlantedFault {
  readonly name: string;
  readonly doubles: Doubles;
  /** What must give it away. */
  readonly caughtAs: RegExp;
}

const EMPTY_LIST = '{"data":[],"success":true}';

const answering = (change: (answer: HttpAnswer, target: string) => HttpAnswer): Doubles => ({
  http: (client: HttpClient) => ({
    ...client,
    get: async (request, signal) => change(await client.get(request, signal), request.target),
  }),
});

const withBody = (answer: HttpAnswer, text: string): HttpAnswer => ({ ...answer, bytes: Buffer.from(text) });
const textOf = ({ bytes }: HttpAnswer): string => Buffer.from(bytes).toString();

const putting = (change: (value: SqlValue, column: string) => SqlValue): Doubles => ({
  session: (session: Session) => ({
    ...session,
    atomically: (work) =>
      session.atomically((tx) =>
        work({
          ...tx,
          upsertRows: ({ columns, rows, table }) =>
            tx.upsertRows({
              table,
              columns,
              rows: rows.map((row) => row.map((value, at) => change(value, columns[at] ?? ''))),
            }),
        }),
      ),
  }),
});

/** Faults that a mirror may have, as doubles made of the real parts: the checks must find each of them. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'numbers lose their text on the way into the database',
    doubles: putting((value, column) =>
      column === '_raw' ? JSON.stringify(JSON.parse(String(value))) : value,
    ),
    caughtAs: /nobody sent/,
  },
  {
    name: 'decimals pass through a float',
    doubles: putting((value, column) =>
      column === 'credit' && value !== null ? String(Number(value)) : value,
    ),
    caughtAs: /credit is /,
  },
  {
    name: 'a web page is an empty list',
    doubles: answering((answer) =>
      /^\s*<!DOCTYPE/i.test(textOf(answer)) ? { ...withBody(answer, EMPTY_LIST), status: 200 } : answer,
    ),
    caughtAs: /no list, but it was read as one/,
  },
  {
    name: 'success: false is swallowed',
    doubles: answering((answer) =>
      withBody(answer, textOf(answer).replace('"success":false', '"success":true')),
    ),
    caughtAs: /no list, but it was read as one/,
  },
  {
    name: 'bytes that are no UTF-8 are replaced',
    doubles: answering((answer) => withBody(answer, textOf(answer))),
    caughtAs: /no list, but it was read as one|nobody sent/,
  },
  {
    name: 'any answer with status 404 says that a record is gone',
    doubles: answering((answer) => (answer.status === 404 ? withBody(answer, '{}') : answer)),
    caughtAs: /deleted by retrieve with/,
  },
  {
    name: 'a record that is not found was never there',
    doubles: answering((answer, target) =>
      /\/\d+$/.test(target) && answer.status !== 200 ? { ...withBody(answer, '{}'), status: 404 } : answer,
    ),
    caughtAs: /deleted/,
  },
  {
    name: 'misfits are not told',
    doubles: {
      session: (session) => ({
        ...session,
        atomically: (work) =>
          session.atomically((tx) =>
            work({
              ...tx,
              insertRows: async (rows) => (rows.table === 'issues' ? undefined : tx.insertRows(rows)),
            }),
          ),
      }),
    },
    caughtAs: /misfits|without an issue/,
  },
  {
    name: 'an error of the parser escapes',
    doubles: answering((answer) => {
      if (answer.bytes.length === 0) throw new TypeError('Cannot read properties of undefined');
      return answer;
    }),
    caughtAs: /crash: TypeError/,
  },
];
