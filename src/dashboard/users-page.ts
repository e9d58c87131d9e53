import { addedUser, addUser, readUserList, removeUser, rotateUser } from '../operations/users.ts';
import type { AnyOperation } from '../operations/operation.ts';
import type { Server, Typed } from '../http/server.ts';
import { html, type Html } from '../http/html.ts';
import type { Translator } from '../lib/text/translator.ts';
import { USER_ROLES } from '../store/users/user-store.ts';
import { decisionForms, type DecisionButton } from './parts/decisions.ts';
import { formOf, type FormField } from './parts/forms.ts';
import { column, foldedTable, panel, secretPanel } from './parts/layout.ts';
import { pageAt, addResultForm, type Dashboard, type PageRequest } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';

const PATH = '/users';

/** Adds the page of the users, and the answer to the forms that make a token: the page once more, with the token. */
export function addUsersPage(app: Server, dashboard: Dashboard): void {
  const summary = 'Show the users who may read, push, decide or administer';
  const page = { path: PATH, summary, role: 'admin' } as const;
  pageAt(page, usersPage)(app, dashboard);
  for (const [operation, title] of [
    [{ ...addUser, formOf: addForm }, '{name} was added'],
    [rotateUser, '{name} has a new token'],
  ] as const)
    addResultForm(app, { context: dashboard, operation }, usersPage, ({ reader }, document) => {
      const { name, token } = addedUser.parse(document);
      const note = reader.t('Give this token to {name}: it signs in, and it is not shown again.', { name });
      return secretPanel(reader, reader.t(title, { name }), note, token);
    });
}

async function usersPage({ session }: Dashboard, { reader }: Pick<PageRequest<unknown, unknown>, 'reader'>) {
  const { t, when } = reader;
  const { users: rows } = await readUserList(session);
  const list = foldedTable(
    reader,
    {
      open: 12,
      caption: t('Users'),
      rows,
      none: t('No users yet. The value of ADMIN_TOKEN signs in as admin.'),
    },
    column(t('name'), 'data', ({ name }) => name),
    column(t('role'), 'early', ({ name, role }) => roleForm(reader, name, role)),
    column(t('since'), 'named', ({ createdAt }) => when(createdAt)),
    column(t('decide'), 'decide', ({ name }) => tokenForms(reader, name)),
  );
  const content = html`${panel({ id: 'users', title: t('Who has access'), isLive: false }, list)}
  ${addForm(reader)}`;
  const about = 'A viewer reads, a writer also pushes, an operator also decides, an admin also administers.';
  return { title: t('Users'), about: t(about), content };
}

const roleField = ({ term }: Translator, label: FormField['label'], value: string): FormField => {
  return { name: 'role', label, value, choices: USER_ROLES, labelOf: term };
};

function roleForm(reader: Reader, name: string, role: string): Html {
  const label = html`<span class="unseen">${reader.t('Role of {name}', { name })}</span>`;
  const action = `${PATH}/${encodeURIComponent(name)}/role`;
  const fields = [roleField(reader, label, role)];
  return formOf({ action, look: 'inline', values: { back: PATH }, fields, button: reader.t('Change role') });
}

/** Both end the user's present token. */
const tokenForms = ({ t }: Reader, name: string): Html => {
  const question = t('{name} will be signed out, and the token will no longer work. Continue?', { name });
  const ending = (operation: AnyOperation, label: string, answer: string): DecisionButton => {
    const address = operation.path.replace(':name', encodeURIComponent(name));
    return { label, about: name, address, confirmation: { question, answer } };
  };
  const rotate = ending(rotateUser, t('New token'), t('New token for {name}', { name }));
  const remove = ending(removeUser, t('Remove'), t('Remove {name}', { name }));
  return decisionForms([rotate, remove], PATH, 'admin');
};

function addForm(reader: Translator, { name, role = 'viewer' }: Typed = {}): Html {
  const { t } = reader;
  const attributes = html`required maxlength="100" autocomplete="off"`;
  const fields = [
    { name: 'name', label: t('name'), value: name, attributes },
    roleField(reader, t('role'), role),
  ];
  const form = formOf({ action: PATH, look: 'filters body', fields, button: t('Add'), isMain: true });
  return panel({ id: 'add', title: t('Add a user'), isLive: false }, form);
}
